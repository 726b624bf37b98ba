import { z } from 'zod'
import type { ListPage } from '#shared/risk/trade/store.ts'
import { paged } from '../../paging.ts'
import { DEFAULT_PAGE, decodeCursor, encodeCursor, type PageQuery } from '../paging.ts'

const Cursor = z.tuple([z.int()])

/** One page of a list that is ordered by `seq`. @throws ValidationError for a cursor of another list */
export async function readPage<Row extends { seq: number }>(
  { cursor, limit = DEFAULT_PAGE }: z.output<typeof PageQuery>,
  list: (page: ListPage) => Promise<Row[]>,
): Promise<{ page: Row[]; nextCursor: string | null }> {
  const before = decodeCursor(cursor, Cursor)?.[0] ?? null
  return paged(await list({ before, limit: limit + 1 }), limit, ({ seq }) => encodeCursor([seq]))
}
