import { type FailedOutcome, temporary } from '../../delivery/outcome.ts'
import { type Micros, microsOfMillis, toDate } from '../../time.ts'
import { headerParameter, headerToken, readMailHeaders, splitParts } from '../pings/mail-message.ts'

/**
 * What may be sent to one recipient within a minute, by kinds whose recipients are protected from floods: topic, chat,
 * user, number (docs/spec/monitoring.md#integration-kinds), and address. Mails are more, since they are how most people hear that many
 * checks went down at once, and none of them may be given up.
 */
const limitsPerMinute: Readonly<Record<string, number>> = { ntfy: 6, telegram: 6, po: 6, signal: 6, email: 30 }

export function hasRecipientLimit(kind: string): boolean {
  return Object.hasOwn(limitsPerMinute, kind)
}

/**
 * @param sentWithinMinute messages to the same recipient in the 60 seconds before now, whoever sent them
 * @returns null when one more may be sent
 */
export function checkRecipientLimit(kind: string, sentWithinMinute: number): FailedOutcome | null {
  const limit = limitsPerMinute[kind]
  if (limit === undefined || sentWithinMinute < limit) return null
  return temporary('Rate limit exceeded', { failure: 'limit', retryAfterSeconds: 60 })
}

/** What a kind is counted under per calendar month: text messages and WhatsApp share one budget, calls have their own. */
export type MonthlyMeter = 'sms' | 'call'

const meters: Record<string, { meter: MonthlyMeter; error: string }> = {
  sms: { meter: 'sms', error: 'Monthly SMS limit exceeded' },
  whatsapp: { meter: 'sms', error: 'Monthly message limit exceeded' },
  call: { meter: 'call', error: 'Monthly phone call limit exceeded' },
}

/** @returns null for kinds that cost nothing per message */
export function monthlyMeterOf(kind: string): MonthlyMeter | null {
  return meters[kind]?.meter ?? null
}

/** A failure that no retry mends and that leaves the integration enabled; for kinds that have a meter. */
export function monthlyLimitExceeded(kind: string): FailedOutcome {
  return temporary(meters[kind]?.error ?? 'Monthly limit exceeded', { failure: 'limit', final: true })
}

/** Share of a monthly limit that repeats may use, so that first messages can still be sent (docs/spec/alerting.md#policies). */
export function limitOfRepeats(limit: number): number {
  return Math.floor((limit * 4) / 5)
}

/** A repeat that was decided on while there was room, and came when only first messages had some. */
export function reservedForOwner(): FailedOutcome {
  return temporary('The rest of the monthly limit is kept for first messages', { failure: 'limit', final: true })
}

/** The first instant of the calendar month (UTC) that `at` lies in. */
export function monthStart(at: Micros): Micros {
  const date = toDate(at)
  return microsOfMillis(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1))
}

const HEADER_LIMIT = 32_768
const MAX_PARTS = 10
const SEARCHED_BYTES = 1_000_000

/**
 * Reads a mail that says what became of another one (RFC 3464).
 * @returns whom it is addressed to, and its first status; empty where it has none
 */
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
