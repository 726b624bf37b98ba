import { DatabaseSync } from 'node:sqlite'
import { databaseUrl, withClient } from '../../stack/database-admin.ts'
import fixture from '../vectors/move-in/healthchecks-database.json' with { type: 'json' }

type Value = string | number | boolean | null
export type HealthchecksVersion = (typeof fixture.versions)[number]

const SQLITE: Readonly<Record<string, string>> = {
  ...{ integer: 'integer', uuid: 'char(32)', text: 'varchar(500)', boolean: 'bool' },
  ...{ span: 'bigint', instant: 'datetime' },
}
const POSTGRES: Readonly<Record<string, string>> = {
  ...SQLITE,
  uuid: 'uuid',
  boolean: 'boolean',
  span: 'interval',
  instant: 'timestamptz',
}

/** Returns the statements that make a database of one version, with rows of two projects. */
function statementsOf({ api, accounts, without }: HealthchecksVersion, isSqlite: boolean): string[] {
  const types = isSqlite ? SQLITE : POSTGRES
  const statements = [
    'CREATE TABLE django_migrations (id integer, app varchar(255), name varchar(255))',
    `INSERT INTO django_migrations VALUES (1, 'api', '0100_opsgenie_values'), (2, 'accounts', '0048_alter_profile_user')`,
    `INSERT INTO django_migrations VALUES (3, 'api', '${api}'), (4, 'accounts', '${accounts}'), (5, 'auth', '0999_x')`,
  ]
  for (const [table, columns] of Object.entries(fixture.tables)) {
    const own = Object.entries(columns).filter(([name]) => table !== 'api_check' || !without.includes(name))
    const rows: readonly Readonly<Record<string, Value>>[] = Reflect.get(fixture.rows, table)
    statements.push(`CREATE TABLE ${table} (${own.map(([name, type]) => `"${name}" ${types[type]}`).join(', ')})`)
    const literals = rows.map((row) => own.map(([name, type]) => literal(row[name] ?? null, type, isSqlite)).join(', '))
    statements.push(`INSERT INTO ${table} VALUES (${literals.join('), (')})`)
  }
  return statements
}

/** Writes a value as Django stores it. */
function literal(value: Value, type: string, isSqlite: boolean): string {
  if (value === null) return 'NULL'
  const text = `'${String(value).replaceAll("'", "''")}'`
  if (type === 'integer') return String(value)
  if (type === 'span') return isSqlite ? `${Number(value) * 1_000_000}` : `'${value} seconds'`
  if (!isSqlite || type === 'text' || type === 'instant') return text
  return type === 'uuid' ? text.replaceAll('-', '') : String(value === true ? 1 : 0)
}

/** Makes a SQLite file. @param changes further statements */
export function writeHealthchecksFile(
  path: string,
  version: HealthchecksVersion,
  changes: readonly string[] = [],
): void {
  const database = new DatabaseSync(path)
  for (const statement of [...statementsOf(version, true), ...changes]) database.exec(statement)
  database.close()
}

/** Makes a schema of a PostgreSQL database. @returns the URL that reads it */
export async function createHealthchecksSchema(
  server: string,
  version: HealthchecksVersion,
  changes: readonly string[] = [],
): Promise<string> {
  const schema = `hc_${version.version.replace('.', '_')}${changes.length > 0 ? '_changed' : ''}`
  await withClient(server, async (client) => {
    await client.query(`CREATE SCHEMA ${schema}`)
    await client.query(`SET search_path TO ${schema}`)
    for (const statement of [...statementsOf(version, false), ...changes]) await client.query(statement)
  })
  const url = new URL(databaseUrl(server, new URL(server).pathname.slice(1)))
  url.searchParams.set('options', `-csearch_path=${schema}`)
  return url.href
}
