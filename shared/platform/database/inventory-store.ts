import type { Knex } from 'knex'
import type { SealPurpose, Secrets } from '../process/secrets.ts'
import { sealedColumns } from './sealed-columns.ts'
import { columns, query, typed } from './sql.ts'

export async function countRows(db: Knex): Promise<Record<string, number>> {
  const tables = await query<{ name: string }>(
    db,
    `SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition
     AND relnamespace = 'public'::regnamespace ORDER BY relname`,
  )
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    const [row] = await query<{ rows: number }>(db, `SELECT count(*)::float AS rows FROM "${name}"`)
    counts[name] = row?.rows ?? 0
  }
  return counts
}

export async function appliedMigrations(db: Knex): Promise<string[]> {
  return (await query<{ name: string }>(db, 'SELECT name FROM migrations ORDER BY name')).map(({ name }) => name)
}

const SEQUENCES_BEHIND_COLUMNS = columns<{ table: string; column: string; sequence: string }>()(`
  c.relname AS table, a.attname AS column, pg_get_serial_sequence(format('%I', c.relname), a.attname) AS sequence`)

/** Returns the identity columns whose sequence is behind their largest value, so that an insert may fail. */
export async function sequencesBehind(db: Knex): Promise<string[]> {
  const identityColumns = await query(
    db,
    typed`SELECT ${SEQUENCES_BEHIND_COLUMNS} FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
     WHERE a.attidentity <> '' AND c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace ORDER BY 1, 2`,
  )
  const behind = []
  for (const { table, column, sequence } of identityColumns) {
    const [row] = await query<{ isBehind: boolean }>(
      db,
      `SELECT coalesce((SELECT max("${column}") FROM "${table}") > last_value, false) AS "isBehind" FROM ${sequence}`,
    )
    if (row?.isBehind) behind.push(`${table}.${column}`)
  }
  return behind
}

/** Counts checks whose `n_pings` is lower than the largest `n` of their stored pings. */
export async function checksWithLowPingCount(db: Knex): Promise<number> {
  const [row] = await query<{ checks: number }>(
    db,
    `SELECT count(*)::float AS checks FROM checks c WHERE c.n_pings < (SELECT max(n) FROM pings p WHERE p.check_id = c.id)`,
  )
  return row?.checks ?? 0
}

/** Rows of each column that are decrypted as a sample. */
const SAMPLE_ROWS = 20

/** Returns the columns in which some sampled value cannot be decrypted. */
export async function unreadableSealedColumns(
  db: Knex,
  secrets: Pick<Secrets, 'open'>,
): Promise<{ column: string; unreadable: number }[]> {
  const found = []
  for (const { table, column, purpose } of sealedColumns) {
    const rows = await query<{ sealed: string }>(
      db,
      `SELECT ${column} AS sealed FROM ${table} WHERE ${column} IS NOT NULL AND ${column} <> '' LIMIT ${SAMPLE_ROWS}`,
    )
    const unreadable = rows.filter(({ sealed }) => !isReadable(secrets, purpose, sealed)).length
    if (unreadable > 0) found.push({ column: `${table}.${column}`, unreadable })
  }
  return found
}

function isReadable(secrets: Pick<Secrets, 'open'>, purpose: SealPurpose, sealed: string): boolean {
  try {
    secrets.open(purpose, sealed)
    return true
  } catch {
    return false
  }
}
