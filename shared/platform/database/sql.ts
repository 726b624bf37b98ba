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

interface Result<Row> {
  rows: Row[]
  rowCount: number | null
}

async function run<Row>(db: Knex, sql: string, values: readonly SqlValue[]): Promise<Result<Row>> {
  // knex's types leave out arrays that are read-only or hold nulls; the driver takes them.
  return await db.raw<Result<Row>>(sql, values as readonly Knex.RawBinding[])
}
