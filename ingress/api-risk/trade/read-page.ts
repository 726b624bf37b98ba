import type { z } from 'zod'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import type { ListPage } from '#shared/risk/trade/store.ts'
import { paged } from '../../paging.ts'
import { DEFAULT_PAGE, type PageQuery, sealCursor, unsealCursor } from '../paging.ts'

/** One page of a list that is ordered by `seq`. @throws ValidationError for a cursor of another list */
export async function readPage<Row extends { seq: number }>(
  { cursor, limit = DEFAULT_PAGE }: z.output<typeof PageQuery>,
  secrets: Secrets,
  list: (page: ListPage) => Promise<Row[]>,
): Promise<{ page: Row[]; nextCursor: string | null }> {
  const before = unsealCursor(cursor, secrets)
  return paged(await list({ before, limit: limit + 1 }), limit, ({ seq }) => sealCursor(seq, secrets))
}
