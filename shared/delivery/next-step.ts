import type { Outcome } from './outcome.ts'
import { type RetryPolicy, retryDelayMs } from './retry-schedule.ts'

/** What follows an attempt: nothing, another one, the end of this delivery, or the end of its target. */
export type NextStep = { step: 'done' } | { step: 'retry'; delayMs: number } | { step: 'give-up' } | { step: 'disable' }

/**
 * @param attempts attempts made so far, this one included
 * @param random uniform in [0, 1)
 */
export function nextStep(policy: RetryPolicy, outcome: Outcome, attempts: number, random: number): NextStep {
  if (outcome.result === 'delivered') return { step: 'done' }
  if (outcome.result === 'permanent') return { step: 'disable' }
  if (outcome.final) return { step: 'give-up' }
  const delayMs = retryDelayMs(policy, { attempts, retryAfterSeconds: outcome.retryAfterSeconds, random })
  return delayMs === null ? { step: 'give-up' } : { step: 'retry', delayMs }
}
