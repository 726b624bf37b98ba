import type { Outcome } from './outcome.ts'

/** The first attempt is made immediately; `delaysSeconds[n]` follows attempt n+1. */
export interface RetryPolicy {
  delaysSeconds: readonly number[]
  /** 0.2 varies a delay of 100 s between 80 and 120 s, so that retries are not simultaneous */
  jitter: number
  maxRetryAfterSeconds: number
}

const minute = 60
const hour = 60 * minute

/** A late alert is of little use: seven attempts within about 105 minutes. */
export const notificationRetries: RetryPolicy = {
  delaysSeconds: [5, 30, 2 * minute, 10 * minute, 30 * minute, hour],
  jitter: 0.2,
  maxRetryAfterSeconds: hour,
}

/** Standard Webhooks 1.0.0: ten attempts in 76 hours (docs/spec/transparency.md#webhook-delivery). */
export const webhookRetries: RetryPolicy = {
  delaysSeconds: [5, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour],
  jitter: 0.2,
  maxRetryAfterSeconds: 24 * hour,
}

export interface FailedAttempt {
  attempts: number
  retryAfterSeconds: number | null
  /** in [0, 1) */
  random: number
}

/** Returns null after the last attempt. Retry-After never shortens the delay or adds attempts. */
export function retryDelayMs(policy: RetryPolicy, failed: FailedAttempt): number | null {
  const seconds = policy.delaysSeconds[failed.attempts - 1]
  if (seconds === undefined) return null
  const jittered = seconds * (1 + policy.jitter * (2 * failed.random - 1))
  const requested = Math.min(failed.retryAfterSeconds ?? 0, policy.maxRetryAfterSeconds)
  return Math.round(Math.max(jittered, requested) * 1000)
}

const MAX_RETRY_AFTER_SECONDS = 24 * hour

/** Seconds, 0 to one day; null when unreadable (RFC 9110 sections 10.2.3, 5.6.7). */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | null {
  const text = header?.trim() ?? ''
  const seconds = /^\d+$/.test(text) ? Number(text) : secondsUntil(httpDate(text, nowMs), nowMs)
  return seconds === null ? null : Math.min(seconds, MAX_RETRY_AFTER_SECONDS)
}

function secondsUntil(atMs: number | null, nowMs: number): number | null {
  return atMs === null ? null : Math.max(0, Math.ceil((atMs - nowMs) / 1000))
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const TIME = '(?<time>[0-2][0-9]:[0-5][0-9]:[0-5][0-9])'
const HTTP_DATES = [
  `[A-Z][a-z]{2}, (?<day>[0-9]{2}) (?<month>[A-Z][a-z]{2}) (?<year>[0-9]{4}) ${TIME} GMT`,
  `[A-Z][a-z]{5,8}, (?<day>[0-9]{2})-(?<month>[A-Z][a-z]{2})-(?<year>[0-9]{2}) ${TIME} GMT`,
  `[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ 0-9][0-9]) ${TIME} (?<year>[0-9]{4})`,
].map((form) => new RegExp(`^${form}$`))

function httpDate(text: string, nowMs: number): number | null {
  const {
    day = '',
    month = '',
    year = '',
    time = '',
  } = HTTP_DATES.map((form) => form.exec(text)?.groups).find(Boolean) ?? {}
  const monthNumber = String(MONTHS.indexOf(month) + 1).padStart(2, '0')
  const at = Date.parse(`${fullYear(year, nowMs)}-${monthNumber}-${day.replace(' ', '0')}T${time}Z`)
  return Number.isNaN(at) ? null : at
}

/** The latest matching year that is at most 50 years ahead (RFC 9110 section 5.6.7). */
function fullYear(year: string, nowMs: number): string {
  if (year.length !== 2) return year
  const thisYear = new Date(nowMs).getUTCFullYear()
  const inCentury = thisYear - (thisYear % 100) + Number(year)
  return String(inCentury > thisYear + 50 ? inCentury - 100 : inCentury)
}

/** Returns null if the outcome allows no other attempt. */
export function nextAttemptInMs(
  policy: RetryPolicy,
  outcome: Outcome,
  attempts: number,
  random: number,
): number | null {
  if (outcome.result !== 'temporary' || outcome.final) return null
  return retryDelayMs(policy, { attempts, retryAfterSeconds: outcome.retryAfterSeconds, random })
}
