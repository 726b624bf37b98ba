/** When a failed delivery is tried again. The first attempt is made at once; `delaysSeconds[n]` follows attempt n+1. */
export interface RetryPolicy {
  delaysSeconds: readonly number[]
  /** a delay of 100 s with jitter 0.2 becomes 80 to 120 s, so that what failed together does not return together */
  jitter: number
  /** the longest wait that a target may ask for by Retry-After */
  maxRetryAfterSeconds: number
}

const minute = 60
const hour = 60 * minute

/** Alerts are worth little when late: seven attempts within about an hour and three quarters. */
export const notificationRetries: RetryPolicy = {
  delaysSeconds: [5, 30, 2 * minute, 10 * minute, 30 * minute, hour],
  jitter: 0.2,
  maxRetryAfterSeconds: hour,
}

/** The example schedule of Standard Webhooks 1.0.0: ten attempts within about 76 hours (domain 6.4). */
export const webhookRetries: RetryPolicy = {
  delaysSeconds: [5, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour],
  jitter: 0.2,
  maxRetryAfterSeconds: 24 * hour,
}

export interface FailedAttempt {
  /** attempts made so far, the failed one included: 1 after the first */
  attempts: number
  /** what the target asked for; null when it said nothing */
  retryAfterSeconds: number | null
  /** uniform in [0, 1) */
  random: number
}

/**
 * How long to wait for the next attempt, in whole milliseconds.
 * @returns null when the schedule is exhausted. A Retry-After lengthens a wait, never shortens it, and never adds
 * attempts.
 */
export function retryDelayMs(policy: RetryPolicy, failed: FailedAttempt): number | null {
  const seconds = policy.delaysSeconds[failed.attempts - 1]
  if (seconds === undefined) return null
  const jittered = seconds * (1 + policy.jitter * (2 * failed.random - 1))
  const asked = Math.min(failed.retryAfterSeconds ?? 0, policy.maxRetryAfterSeconds)
  return Math.round(Math.max(jittered, asked) * 1000)
}

/**
 * Retry-After as seconds from now: delta seconds, or an HTTP date (RFC 9110 section 10.2.3).
 * @returns null when absent or unreadable; never negative
 */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | null {
  const text = header?.trim() ?? ''
  if (/^\d{1,10}$/.test(text)) return Number(text)
  if (!/^[A-Z][a-z]{2},/.test(text)) return null
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - nowMs) / 1000))
}
