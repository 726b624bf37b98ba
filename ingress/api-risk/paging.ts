import { z } from 'zod'
import { ValidationError } from '#shared/errors.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'

export const DEFAULT_PAGE = 50

/** The query of every list. */
export const PageQuery = z.strictObject({
  cursor: z.string().max(500).optional().meta({ description: 'nextCursor of the page before' }),
  limit: z
    .string()
    .regex(/^[1-9][0-9]{0,2}$/)
    .transform(Number)
    .refine((limit) => limit <= 200, { message: 'must be at most 200' })
    .optional()
    .meta({ description: 'entries per page, 1 to 200; 50 when absent' }),
})

/** Years that every store of an instant here can hold, and that anything we know of lies in. */
const isPlausible = (text: string): boolean => /^(?:19|2[0-9])[0-9]{2}-/.test(text)

/** An instant with an offset, from 1900 to 2999. */
export const InstantQuery = z.iso.datetime({ offset: true }).refine(isPlausible, { message: 'is out of range' })

/** A day, or an instant, which stands for the day in UTC that it lies in: `YYYY-MM-DD`. */
export const DayQuery = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })])
  .refine(isPlausible, { message: 'is out of range' })
  .transform((text) => new Date(text).toISOString().slice(0, 10))
  .meta({ description: 'a date or an instant', example: '2026-11-21' })

/** An opaque cursor; it is no secret, and its content is checked when it comes back. */
export function encodeCursor(parts: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

/** @throws ValidationError when it is not one of ours */
export function decodeCursor<T>(cursor: string | undefined, schema: z.ZodType<T>): T | null {
  if (cursor === undefined) return null
  try {
    const parsed = schema.safeParse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')))
    if (parsed.success && !JSON.stringify(parsed.data).includes('\\u0000')) return parsed.data
  } catch {
    // the same answer as for a cursor of another list
  }
  throw foreignCursor()
}

/**
 * Returns an encrypted cursor, because serial numbers over all organisations reveal how many objects others have. Each
 * call returns another text of the same length.
 */
export function sealCursor(seq: number, secrets: Pick<Secrets, 'seal'>): string {
  return secrets.seal('cursor', String(seq).padStart(16, '0'))
}

/** @throws ValidationError when it is not one of ours */
export function unsealCursor(cursor: string | undefined, secrets: Pick<Secrets, 'open'>): number | null {
  if (cursor === undefined) return null
  try {
    const seq = Number(secrets.open('cursor', cursor))
    if (Number.isSafeInteger(seq)) return seq
  } catch {
    // the same answer as for a cursor of another list
  }
  throw foreignCursor()
}

function foreignCursor(): ValidationError {
  const message = 'cursor is not one of this list'
  return new ValidationError(message, [{ path: 'cursor', code: 'FORMAT', message }])
}
