import type { Knex } from 'knex'

type Scalar = string | number | boolean | Date | Buffer | null

/** What a `?` may stand for: arrays go to PostgreSQL as arrays, for `ANY(?::bigint[])` and `unnest`. */
export type SqlValue = Scalar | readonly Scalar[]

/** Runs one statement and gives its rows; `Row` says what the statement's own column list promises. */
export async function query<Row>(db: Knex, sql: string, values: readonly SqlValue[] = []): Promise<Row[]> {
  const { rows } = await run<Row>(db, sql, values)
  return rows
}

/** Runs one statement. @returns how many rows it changed */
export async function execute(db: Knex, sql: string, values: readonly SqlValue[] = []): Promise<number> {
  const { rowCount } = await run(db, sql, values)
  return rowCount ?? 0
}

/**
 * Runs statements of a transaction that claim a page out of many rows, in the order of an index. Left to itself PostgreSQL
 * may read all that wait and sort them, for each page: of an index of what is to be done the statistics say what they
 * happened to see last, which is mostly that it is empty.
 */
export async function inIndexOrder<Claimed>(tx: Knex, claim: () => Promise<Claimed>): Promise<Claimed> {
  await execute(tx, 'SET LOCAL enable_sort = off')
  const claimed = await claim() // should it fail, the transaction ends, and the setting with it
  await execute(tx, 'SET LOCAL enable_sort = on')
  return claimed
}

interface Result<Row> {
  rows: Row[]
  rowCount: number | null
}

async function run<Row>(db: Knex, sql: string, values: readonly SqlValue[]): Promise<Result<Row>> {
  // knex's types leave out arrays that are read-only or hold nulls; the driver takes them.
  return await db.raw<Result<Row>>(sql, values as readonly Knex.RawBinding[])
}
