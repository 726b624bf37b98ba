import { z } from 'zod'
import { queryOf } from '../middleware/form-text.ts'
import { paged } from '../paging.ts'
import { numberOf } from './operation.ts'

/** The query of a list of the alerting API. */
export const pageQuery = z.object({
  limit: z.string().optional().describe('1-100; 50 by default.'),
  before: z.string().optional().describe('The `next` of the previous page.'),
})

/**
 * Sorts rows that are in memory by falling id, and returns the page that the query names. `next` is the cursor of the
 * following page, null on the last one. @throws ValidationError that names a parameter
 */
export function pageOf<T extends { id: number }>(
  rows: readonly T[],
  request: Parameters<typeof queryOf>[0],
): { page: T[]; next: string | null } {
  const query = queryOf(request)
  const limit = numberOf(query, 'limit', { min: 1, max: 100 }) ?? 50
  const before = numberOf(query, 'before', { min: 0, max: Number.MAX_SAFE_INTEGER })
  const older = rows.filter(({ id }) => before === null || id < before).sort((a, b) => b.id - a.id)
  const { page, nextCursor } = paged(older, limit, ({ id }) => String(id))
  return { page, next: nextCursor }
}
