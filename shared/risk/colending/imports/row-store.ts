import type { Knex } from 'knex'
import { columns, execute, query, typed } from '../../../platform/database/sql.ts'
import type { ListedLine } from './import.ts'
import type { StoredRow } from './row.ts'

export interface NewRow extends StoredRow {
  n: number
  loanRef: Buffer
  hash: Buffer
}

/** Bytes of a hash. Hashes are sent as one value, because an array of them would be sent as text. */
const HASH_BYTES = 32

/** Hashes are hex. */
export async function knownLoans(tx: Knex, importId: string, loanRefs: readonly Buffer[]): Promise<Set<string>> {
  const rows = await query<{ loanRef: Buffer }>(
    tx,
    `SELECT loan_ref AS "loanRef" FROM import_rows WHERE import_id = ? AND loan_ref = ANY(ARRAY(
       SELECT substring(given.hashes FROM place * ${HASH_BYTES} + 1 FOR ${HASH_BYTES})
       FROM (SELECT ?::bytea AS hashes) given, generate_series(0, ?::int - 1) AS place))`,
    [importId, Buffer.concat(loanRefs), loanRefs.length],
  )
  return new Set(rows.map(({ loanRef }) => loanRef.toString('hex')))
}

/** Numbers are consecutive. */
export async function insertRows(tx: Knex, importId: string, rows: readonly NewRow[]): Promise<void> {
  const [first] = rows
  if (first === undefined) return
  // Canonical JSON contains no line feed.
  await execute(
    tx,
    `INSERT INTO import_rows (import_id, n, loan_ref, hash, body, unread)
     SELECT ?, ?::int + place, substring(given.loans FROM place * ${HASH_BYTES} + 1 FOR ${HASH_BYTES}),
       substring(given.hashes FROM place * ${HASH_BYTES} + 1 FOR ${HASH_BYTES}), body,
       CASE WHEN unread = '[]' THEN '{}' ELSE ARRAY(SELECT jsonb_array_elements_text(unread::jsonb)) END
     FROM (SELECT ?::bytea AS loans, ?::bytea AS hashes) given,
       LATERAL (SELECT body, unread, (nth - 1)::int AS place
         FROM unnest(string_to_array(?, E'\n'), string_to_array(?, E'\n')) WITH ORDINALITY AS t(body, unread, nth)) row`,
    [
      importId,
      first.n,
      Buffer.concat(rows.map(({ loanRef }) => loanRef)),
      Buffer.concat(rows.map(({ hash }) => hash)),
      rows.map(({ body }) => body).join('\n'),
      rows.map(({ unread }) => JSON.stringify(unread)).join('\n'),
    ],
  )
}

export async function insertErrors(
  tx: Knex,
  importId: string,
  from: number,
  errors: readonly ListedLine[],
): Promise<void> {
  if (errors.length === 0) return
  await execute(
    tx,
    `INSERT INTO import_errors (import_id, n, line, column_name, code)
     SELECT ?, ?::int + (place - 1)::int, line, column_name, code
     FROM unnest(?::int[], ?::text[], ?::text[]) WITH ORDINALITY AS t(line, column_name, code, place)`,
    [
      importId,
      from,
      errors.map(({ line }) => line),
      errors.map(({ column }) => column),
      errors.map(({ code }) => code),
    ],
  )
}

const ERRORS_COLUMNS = columns<ListedLine & { n: number }>()('n, line, column_name AS column, code')

/** `after` is the number of the last row; `isSkipped` selects skipped records instead. */
export async function listErrors(
  db: Knex,
  importId: string,
  page: { after: number | null; limit: number; isSkipped: boolean },
): Promise<(ListedLine & { n: number })[]> {
  return await query(
    db,
    typed`SELECT ${ERRORS_COLUMNS} FROM import_errors
     WHERE import_id = ? AND n > ? AND (code IN ('BANNER', 'TOTALS')) = ? ORDER BY n LIMIT ?`,
    [importId, page.after ?? -1, page.isSkipped, page.limit],
  )
}

const ROWS_COLUMNS = columns<StoredRow & { n: number }>({ n: 'n', body: 'body', unread: 'unread' })

/** In the order of the file. */
export async function listRows(
  db: Knex,
  importId: string,
  page: { from: number; limit: number },
): Promise<(StoredRow & { n: number })[]> {
  return await query(
    db,
    typed`SELECT ${ROWS_COLUMNS} FROM import_rows WHERE import_id = ? AND n >= ? ORDER BY n LIMIT ?`,
    [importId, page.from, page.limit],
  )
}

/** Leaf data of rows, in order. */
export async function listHashes(db: Knex, importId: string, page: { from: number; limit: number }): Promise<Buffer[]> {
  const rows = await query<{ hash: Buffer }>(
    db,
    'SELECT hash FROM import_rows WHERE import_id = ? AND n >= ? AND n < ? ORDER BY n',
    [importId, page.from, page.from + page.limit],
  )
  return rows.map(({ hash }) => hash)
}
