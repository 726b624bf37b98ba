import type { Knex } from 'knex'
import { type Listed, readColumns } from './column-list.ts'

type Scalar = string | number | boolean | Date | Buffer | null

/** Values of `?`. Arrays are sent as PostgreSQL arrays, for `ANY(?::bigint[])` and `unnest`. */
export type SqlValue = Scalar | readonly Scalar[]

declare const ROW: unique symbol

/** SQL text whose rows have the type `Row`, because it contains their column list. It is a string at run time. */
export type Typed<Row> = string & { readonly [ROW]: Row }

/** Text of a statement. If it is not `Typed`, its rows are `unknown` unless the caller states their type, unchecked. */
export type Statement<Row> = string & { readonly [ROW]?: Row }

/**
 * Returns the SELECT or RETURNING list of a row type: `columns<Check>()('c.id, c.tag_list AS tags')` gives
 * `c.id AS "id", c.tag_list AS "tags"`. The default name of a column is its camel case. Lists that are composed of
 * parts are objects: `columns<Check>({ id: 'c.id', ...times })`. A key that is missing or unknown is a compile error.
 * Call it at module level.
 */
export function columns<Row>(list: Record<KeyOf<Row>, string>): Typed<Row>
export function columns<Row>(): <S extends string>(list: Listed<S, KeyOf<Row>>) => Typed<Row>
export function columns(list?: Record<string, string>): unknown {
  return list === undefined ? (text: string) => selectList(readColumns(text)) : selectList(Object.entries(list))
}

function selectList(items: readonly (readonly [name: string, sql: string])[]): string {
  return items.map(([name, sql]) => (sql === name ? sql : `${sql} AS "${name}"`)).join(', ')
}

type KeyOf<Row> = Row extends unknown ? keyof Row : never

type Part = string | number
type Rows<P extends Part> = P extends Typed<infer Row> ? (parts: { row: Row }) => void : never
type RowOf<P extends Part> =
  Rows<P> extends (parts: infer Boxes extends { row: unknown }) => void ? Boxes['row'] : never

/** The last text of each template in the code, so that a hot statement is built once. */
const built = new WeakMap<TemplateStringsArray, { parts: readonly Part[]; sql: string }>()

/** The column lists decide the row type. All parts are inserted as text, so values must be passed as `?`. */
export function typed<const P extends readonly Part[]>(
  text: TemplateStringsArray,
  ...parts: P
): Typed<RowOf<P[number]>> {
  const last = built.get(text)
  const isSame = last?.parts.every((part, index) => part === parts[index])
  const sql = isSame && last ? last.sql : String.raw({ raw: text }, ...parts)
  if (!isSame) built.set(text, { parts, sql })
  return sql as Typed<RowOf<P[number]>>
}

export async function query<Row>(
  db: Knex,
  sql: Statement<Row>,
  values: readonly SqlValue[] = [],
): Promise<NoInfer<Row>[]> {
  const { rows } = await run<Row>(db, sql, values)
  return rows
}

export async function execute(db: Knex, sql: string, values: readonly SqlValue[] = []): Promise<number> {
  const { rowCount } = await run(db, sql, values)
  return rowCount ?? 0
}

interface Result<Row> {
  rows: Row[]
  rowCount: number | null
}

async function run<Row>(db: Knex, sql: string, values: readonly SqlValue[]): Promise<Result<Row>> {
  // knex's types exclude arrays that are readonly or contain null; the driver accepts them.
  return await db.raw<Result<Row>>(sql, values as readonly Knex.RawBinding[])
}
