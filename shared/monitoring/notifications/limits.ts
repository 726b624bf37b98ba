import { type FailedOutcome, temporary } from '../../delivery/outcome.ts'
import { type Micros, microsOfMillis, toDate } from '../../time.ts'
import { headerParameter, headerToken, readMailHeaders, splitParts } from '../pings/mail-message.ts'

/** docs/spec/monitoring.md#integration-kinds. No mail may be lost when many checks go down, so mails have more. */
const limitsPerMinute: Readonly<Record<string, number>> = { ntfy: 6, telegram: 6, po: 6, signal: 6, email: 30 }

export function hasRecipientLimit(kind: string): boolean {
  return Object.hasOwn(limitsPerMinute, kind)
}

/** `sentWithinMinute` counts all projects, in the last 60 s. Returns null if one more may be sent. */
export function checkRecipientLimit(kind: string, sentWithinMinute: number): FailedOutcome | null {
  const limit = limitsPerMinute[kind]
  if (limit === undefined || sentWithinMinute < limit) return null
  return temporary('Rate limit exceeded', { failure: 'limit', retryAfterSeconds: 60 })
}

/** Counters per calendar month. Text messages and WhatsApp share one. */
export type MonthlyMeter = 'sms' | 'call'

const meters: Record<string, { meter: MonthlyMeter; error: string }> = {
  sms: { meter: 'sms', error: 'Monthly SMS limit exceeded' },
  whatsapp: { meter: 'sms', error: 'Monthly message limit exceeded' },
  call: { meter: 'call', error: 'Monthly phone call limit exceeded' },
}

export function monthlyMeterOf(kind: string): MonthlyMeter | null {
  return meters[kind]?.meter ?? null
}

/** The failure is final and does not disable the integration. */
export function monthlyLimitExceeded(kind: string): FailedOutcome {
  return temporary(meters[kind]?.error ?? 'Monthly limit exceeded', { failure: 'limit', final: true })
}

/** Repeats leave a reserve for first messages (docs/spec/alerting.md#policies). */
export function limitOfRepeats(limit: number): number {
  return Math.floor((limit * 4) / 5)
}

/** A repeat may reach its limit between decision and sending. */
export function reservedForOwner(): FailedOutcome {
  return temporary('The rest of the monthly limit is reserved for first messages', { failure: 'limit', final: true })
}

export function monthStart(at: Micros): Micros {
  const date = toDate(at)
  return microsOfMillis(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1))
}

const HEADER_LIMIT = 32_768
const MAX_PARTS = 10
const SEARCHED_BYTES = 1_000_000

/** RFC 3464. Returns the recipient and first status, or empty strings. */
export async function readBounce(raw: Buffer): Promise<{ to: string; status: string }> {
  const headers = await readMailHeaders(raw, 0, raw.length, HEADER_LIMIT)
  const boundary = headerParameter(headers.first('content-type'), 'boundary')
  const body = { start: headers.bodyStart, end: raw.length }
  const parts = splitParts(raw, body, boundary, MAX_PARTS, { bytesLeft: SEARCHED_BYTES })
  for (const { start, end } of parts) {
    const part = await readMailHeaders(raw, start, end, HEADER_LIMIT)
    if (headerToken(part.first('content-type')) !== 'message/delivery-status') continue
    const text = raw.toString('latin1', part.bodyStart, Math.min(end, part.bodyStart + HEADER_LIMIT))
    const [, status = ''] = /^Status:[ \t]*([245]\.[0-9]{1,3}\.[0-9]{1,3})/im.exec(text) ?? []
    return { to: headers.first('to'), status }
  }
  return { to: headers.first('to'), status: '' }
}
