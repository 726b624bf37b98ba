import type { Outcome } from './outcome.ts'
import { type RetryPolicy, retryDelayMs } from './retry-schedule.ts'

/**
 * Whether and when an attempt is followed by another: what notifications and webhooks decide alike.
 * @param attempts made so far, this one included
 * @param random uniform in [0, 1)
 * @returns milliseconds to wait; null when it was delivered, cannot be mended, or the schedule is exhausted
 */
export function nextAttemptInMs(
  policy: RetryPolicy,
  outcome: Outcome,
  attempts: number,
  random: number,
): number | null {
  if (outcome.result !== 'temporary' || outcome.final) return null
  return retryDelayMs(policy, { attempts, retryAfterSeconds: outcome.retryAfterSeconds, random })
}
