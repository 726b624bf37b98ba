import { z } from 'zod'
import { ValidationError } from '#shared/errors.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import type { ListPage } from '#shared/risk/trade/store.ts'
import { rule } from '#shared/validation.ts'

/**
 * Splits rows that were read with one more than `limit`: an extra row means that there is a next page.
 * @param cursorOf returns the cursor of the last row of a page
 */
export function paged<T, Cursor>(
  rows: readonly T[],
  limit: number,
  cursorOf: (last: T) => Cursor,
): { page: T[]; nextCursor: Cursor | null } {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { page, nextCursor: rows.length > limit && last !== undefined ? cursorOf(last) : null }
}

export const DEFAULT_PAGE = 50

export const PageQuery = z.strictObject({
  cursor: z.string().max(500).optional().meta({ description: 'nextCursor of the page before' }),
  limit: z
    .string()
    .regex(/^[1-9][0-9]{0,2}$/, 'must be a whole number from 1 to 200')
    .transform(Number)
    .refine((limit) => limit <= 200, rule('TOO_LARGE', 'must be at most 200'))
    .optional()
    .meta({ description: 'entries per page, 1 to 200; 50 when absent' }),
})

/** All stores support these years. */
const isPlausible = (text: string): boolean => /^(?:19|2[0-9])[0-9]{2}-/.test(text)

export const InstantQuery = z.iso
  .datetime({ offset: true })
  .refine(isPlausible, rule('OUT_OF_RANGE', 'must be between the years 1900 and 2999'))

/** A day `YYYY-MM-DD`, or an instant, which becomes its day in UTC. */
export const DayQuery = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })])
  .refine(isPlausible, rule('OUT_OF_RANGE', 'must be between the years 1900 and 2999'))
  .transform((text) => new Date(text).toISOString().slice(0, 10))
  .meta({ description: 'a date or an instant', example: '2026-11-21' })

/** The cursor is opaque but not secret; its content is validated when it returns. */
export function encodeCursor(parts: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

/** @throws ValidationError for an invalid cursor */
export function decodeCursor<T>(cursor: string | undefined, schema: z.ZodType<T>): T | null {
  if (cursor === undefined) return null
  try {
    const parsed = schema.safeParse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')))
    if (parsed.success && !JSON.stringify(parsed.data).includes('\\u0000')) return parsed.data
  } catch {
    // the same error as for a cursor of another list
  }
  throw foreignCursor()
}

/**
 * Encrypts a cursor, because serial numbers over all organisations reveal the number of their objects. Results differ
 * in each call, but not in length.
 */
export function sealCursor(seq: number, secrets: Pick<Secrets, 'seal'>): string {
  return secrets.seal('cursor', String(seq).padStart(16, '0'))
}

/** @throws ValidationError for an invalid cursor */
export function unsealCursor(cursor: string | undefined, secrets: Pick<Secrets, 'open'>): number | null {
  if (cursor === undefined) return null
  try {
    const seq = Number(secrets.open('cursor', cursor))
    if (Number.isSafeInteger(seq)) return seq
  } catch {
    // the same error as for a cursor of another list
  }
  throw foreignCursor()
}

function foreignCursor(): ValidationError {
  const message = 'cursor is not one of this list'
  return new ValidationError(message, [{ path: 'cursor', code: 'FORMAT', message }])
}

/** Reads a page in the order of `seq`. @throws ValidationError for a cursor of another list */
export async function readPage<Row extends { seq: number }>(
  { cursor, limit = DEFAULT_PAGE }: z.output<typeof PageQuery>,
  secrets: Secrets,
  list: (page: ListPage) => Promise<Row[]>,
): Promise<{ page: Row[]; nextCursor: string | null }> {
  const before = unsealCursor(cursor, secrets)
  return paged(await list({ before, limit: limit + 1 }), limit, ({ seq }) => sealCursor(seq, secrets))
}
