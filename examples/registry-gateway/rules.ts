import { createHash, createHmac } from 'node:crypto'
import { z } from 'zod'
import { dayFromIndianText, type Paise, parsePaise } from '#shared/risk/packs/money.ts'
import type { MissingReason } from '#shared/risk/registries/connector.ts'

/**
 * An answer without data. `Retry-After` is in seconds. `member` is the path of the provider's member
 * that the mapping cannot read.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  readonly code: MissingReason
  readonly retryAfter: number | undefined
  readonly member: string | undefined
  constructor(status: number, code: MissingReason, retryAfter?: number, member?: string) {
    super(code)
    this.status = status
    this.code = code
    this.retryAfter = retryAfter
    this.member = member
  }
}

export const notEntitled = () => new Refusal(403, 'NOT_ENTITLED')
export const noConsent = () => new Refusal(403, 'NO_CONSENT')
export const consentExpired = () => new Refusal(403, 'CONSENT_EXPIRED')
export const consentRevoked = () => new Refusal(403, 'CONSENT_REVOKED')
export const notFound = () => new Refusal(404, 'NOT_FOUND')
export const notFiled = () => new Refusal(404, 'NOT_FILED')
export const timedOut = () => new Refusal(408, 'TIMEOUT')
/** An incomplete delivery that must not be summed, or an error that a repetition cannot change. */
export const incomplete = () => new Refusal(422, 'UPSTREAM_ERROR')
export const unparseable = (member?: string) => new Refusal(422, 'UNPARSEABLE', undefined, member)
export const limited = (seconds: number) => new Refusal(429, 'UPSTREAM_ERROR', Math.max(1, Math.ceil(seconds)))
export const upstreamFailed = () => new Refusal(502, 'UPSTREAM_ERROR')

/** Returns true if a repeated request would get the same answer. */
export function isFinal(status: number): boolean {
  return status < 500 && status !== 408 && status !== 429
}

/** @throws Refusal UNPARSEABLE */
export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    throw unparseable()
  }
}

/** Parses a value with a schema. @throws Refusal UNPARSEABLE */
export function parsed<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value)
  // The path has names of members only; a message could quote a value.
  if (!result.success) throw unparseable(result.error.issues[0]?.path.join('.'))
  return result.data
}

/** Seconds of a `Retry-After` header, which may be a date. */
export function retryAfterSeconds(header: string | string[] | undefined, nowMs: number, fallback: number): number {
  const text = [header ?? ''].flat()[0] ?? ''
  if (/^[0-9]{1,6}$/.test(text)) return Math.max(1, Number(text))
  const at = Date.parse(text)
  return Number.isNaN(at) ? fallback : Math.max(1, Math.ceil((at - nowMs) / 1000))
}

/** A non-empty text without its outer blanks. */
export const filled = z
  .string()
  .transform((text) => text.trim())
  .refine((text) => text !== '')

/** Whole paise of an amount in rupees with at most two decimals. @throws Refusal UNPARSEABLE */
export function paiseOf(amount: unknown, member?: string): Paise {
  const paise = typeof amount === 'string' || typeof amount === 'number' ? parsePaise(amount) : undefined
  if (paise === undefined) throw unparseable(member)
  return paise
}

/** Returns rupees as an exact decimal text. */
export function rupeesOf(paise: Paise): string {
  const size = Math.abs(paise)
  return `${paise < 0 ? '-' : ''}${Math.floor(size / 100)}.${String(size % 100).padStart(2, '0')}`
}

/** Converts DD/MM/YYYY to YYYY-MM-DD; empty is null. @throws Refusal UNPARSEABLE */
export function dayOrNull(text: string | null | undefined, member?: string): string | null {
  if (text === null || text === undefined || text.trim() === '') return null
  const day = dayFromIndianText(text.trim())
  if (day === undefined) throw unparseable(member)
  return day
}

/** Converts an instant to UTC; without an offset it is Indian time. @throws Refusal UNPARSEABLE */
export function instantOf(text: string, member?: string): string {
  const at = Date.parse(/(Z|[+-][0-9]{2}:?[0-9]{2})$/.test(text) ? text : `${text}+05:30`)
  if (Number.isNaN(at)) throw unparseable(member)
  return new Date(at).toISOString()
}

/** Converts a return period MMYYYY to YYYY-MM. @throws Refusal UNPARSEABLE */
export function monthOfPeriod(period: string, member?: string): string {
  if (!/^(0[1-9]|1[0-2])[0-9]{4}$/.test(period)) throw unparseable(member)
  return `${period.slice(2)}-${period.slice(0, 2)}`
}

export function periodOfMonth(month: string): string {
  return `${month.slice(5, 7)}${month.slice(0, 4)}`
}

/** Names compare in upper case with single blanks. */
export function comparableName(name: string): string {
  return name.normalize('NFKC').toUpperCase().replaceAll(/\s+/g, ' ').trim()
}

export type HashKind = 'address' | 'email' | 'name'

/** Returns the keyed hash of a value, or null for an empty or masked one, which would compare wrongly. */
export function keyedHash(key: Buffer, kind: HashKind, value: string | null | undefined): string | null {
  const normal = kind === 'email' ? (value ?? '').trim().toLowerCase() : normalText(value ?? '')
  if (normal === '' || value?.includes('*')) return null
  return createHmac('sha256', key).update(`${kind}\u001f${normal}`).digest('hex')
}

function normalText(value: string): string {
  return value
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

export function sha256(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Masks an identifier for a terminal or a table: the first five characters stay. */
export function masked(identifier: string): string {
  return identifier.length <= 5 ? '*'.repeat(identifier.length) : `${identifier.slice(0, 5)}******`
}

/** Masks all but the last four characters of an account number. */
export function maskedAccount(number: string): string {
  return `${'X'.repeat(Math.max(0, number.length - 4))}${number.slice(-4)}`
}

/** Compares a masked registration with the requested one: at least five characters are open, and all of them agree. */
export function agreesWithMask(masked: string, gstin: string): boolean {
  if (masked.length !== gstin.length) return false
  // A mask is written as X or *, which may also be a character of the registration.
  const open = [...masked.toUpperCase()].map((character, index) => ({ character, index }))
  const plain = open.filter(({ character }) => character !== 'X' && character !== '*')
  return plain.length >= 5 && plain.every(({ character, index }) => gstin[index] === character)
}

/**
 * Returns a value whose member names are in lower case without `_`, because published examples of one provider use two
 * spellings. @throws Refusal UNPARSEABLE if two members have the same name then
 */
export function foldNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(foldNames)
  if (typeof value !== 'object' || value === null) return value
  const folded: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    const key = name.replaceAll('_', '').toLowerCase()
    if (Object.hasOwn(folded, key)) throw unparseable()
    Object.defineProperty(folded, key, { value: foldNames(member), enumerable: true })
  }
  return folded
}

/** A list whose single entry may come as an object; absent is empty. */
export function listOf<Schema extends z.ZodType>(entry: Schema) {
  return z.preprocess((value) => {
    if (value === undefined || value === null || value === '') return []
    return Array.isArray(value) ? value : [value]
  }, z.array(entry))
}
