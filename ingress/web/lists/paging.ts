import { z } from 'zod'
import { decodeCursor, encodeCursor, paged, sealCursor, unsealCursor } from '../../paging.ts'
import type { Context } from '../shell/context.ts'
import type { PageLinks } from './list.tsx'

const PAGE_SIZE = 50

export interface ListedRows<Row> {
  rows: Row[]
  pages: PageLinks
}

/** Reads a page of a list in the order of serial numbers. @throws ValidationError for a cursor of another list */
export async function readBySeq<Row extends { seq: number }>(
  context: Context,
  list: (before: number | null, limit: number) => Promise<Row[]>,
): Promise<ListedRows<Row>> {
  const { secrets } = context.deps
  const before = unsealCursor(context.query.get('cursor') ?? undefined, secrets)
  const found = await list(before, PAGE_SIZE + 1)
  const { page, nextCursor } = paged(found, PAGE_SIZE, ({ seq }) => sealCursor(seq, secrets))
  return { rows: page, pages: { isFirst: before === null, nextCursor } }
}

const TimeCursor = z.tuple([z.int(), z.uuid()])

/** Reads a page of a list in the order of time. @throws ValidationError for a cursor of another list */
export async function readByTime<Row extends { micros: number }>(
  context: Context,
  list: (before: { micros: number; id: string } | null, limit: number) => Promise<Row[]>,
  idOf: (row: Row) => string,
): Promise<ListedRows<Row>> {
  const cursor = decodeCursor(context.query.get('cursor') ?? undefined, TimeCursor)
  const found = await list(cursor && { micros: cursor[0], id: cursor[1] }, PAGE_SIZE + 1)
  const { page, nextCursor } = paged(found, PAGE_SIZE, (row) => encodeCursor([row.micros, idOf(row)]))
  return { rows: page, pages: { isFirst: cursor === null, nextCursor } }
}

/** Reads a page of a list whose cursor is the id in `?before=`; ignores an invalid one. */
export async function readById<Row>(
  { query }: Context,
  size: number,
  list: (before: number | null, limit: number) => Promise<Row[]>,
  idOf: (row: Row) => number,
): Promise<ListedRows<Row>> {
  const requested = query.has('before') ? Number(query.get('before')) : Number.NaN
  const before = Number.isSafeInteger(requested) ? requested : null
  const { page, nextCursor } = paged(await list(before, size + 1), size, idOf)
  return { rows: page, pages: { isFirst: before === null, nextCursor, cursorName: 'before' } }
}
