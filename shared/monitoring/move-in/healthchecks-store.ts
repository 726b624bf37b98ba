import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { UnavailableError, ValidationError } from '../../errors.ts'
import type { HealthchecksChannel, HealthchecksCheck, HealthchecksRows } from './healthchecks-rows.ts'
import { MAX_IMPORTED } from './imported.ts'

type Row = Readonly<Record<string, unknown>>

/** A transaction that only reads. A statement has at most one value, written `?`. */
interface Source extends AsyncDisposable {
  select(sql: string, value?: unknown): Promise<{ rows: Row[]; columns: string[] }>
  /** expression for the whole seconds of a span */
  seconds(column: string): string
}

const CONNECT_MS = 15_000
const QUERY_MS = 60_000

/** Columns of Healthchecks 3.0 to 4.3. Those before `|` are needed; some of the others are younger than 3.0. */
const COLUMNS: Readonly<Record<string, string>> = {
  accounts_project: 'id code name ping_key api_key | owner_id api_key_readonly badge_key show_slugs',
  api_check: `id name slug tags code desc project_id kind timeout grace schedule tz filter_subject filter_body start_kw
    success_kw failure_kw methods manual_resume status | badge_key filter_http_body filter_default_fail created n_pings
    last_ping last_start last_start_rid last_duration has_confirmation_link alert_after`,
  api_channel: `id name code project_id kind value email_verified disabled | created last_notify last_notify_duration
    last_error`,
  api_channel_checks: 'check_id channel_id | id',
}
/** Numbers of the last migrations of version 3.0 and of version 4.3. */
const MIGRATIONS = { api: { oldest: 100, newest: 123 }, accounts: { oldest: 48, newest: 53 } } as const

/** Columns of a check whose name and value are those of the API. */
const TEXTS = ['name', 'slug', 'tags', 'desc', 'methods', 'start_kw', 'success_kw', 'failure_kw']
const FLAGS = ['manual_resume', 'filter_subject', 'filter_body', 'filter_http_body', 'filter_default_fail']

/**
 * Reads a project of a database of Healthchecks 3.0 to 4.3. Nothing is changed.
 * @param address a SQLite file or a PostgreSQL URL; no message contains it
 * @param code the project; only needed if the database has several
 * @throws ValidationError if the database is another one or older, UnavailableError if it cannot be opened
 */
export async function readHealthchecksDatabase(address: string, code?: string): Promise<HealthchecksRows> {
  await using source = await openSource(address)
  const warnings = [...(await checkMigrations(source)), ...(await checkColumns(source))]
  const project = await findProject(source, code)
  const id = project.id
  const checks = await source.select(
    `SELECT api_check.*, ${source.seconds('timeout')} AS timeout_seconds, ${source.seconds('grace')} AS grace_seconds
     FROM api_check WHERE project_id = ? ORDER BY id LIMIT ${MAX_IMPORTED + 1}`,
    id,
  )
  const channels = await source.select('SELECT * FROM api_channel WHERE project_id = ? ORDER BY id', id)
  const assigned = await source.select(
    `SELECT check_id, channel_id FROM api_channel_checks JOIN api_check ON api_check.id = check_id
     WHERE project_id = ?`,
    id,
  )
  const uuids = new Map(channels.rows.map((row) => [String(row.id), uuidOf(row.code)]))
  const channelsOf = Map.groupBy(assigned.rows, ({ check_id }) => String(check_id))
  return {
    project: {
      code: uuidOf(project.code),
      name: textOf(project.name),
      pingKey: textOf(project.ping_key) || null,
      apiKey: textOf(project.api_key),
    },
    checks: checks.rows.map((row) => {
      const own = channelsOf.get(String(row.id)) ?? []
      return checkOf(
        row,
        own.flatMap(({ channel_id }) => uuids.get(String(channel_id)) ?? []),
      )
    }),
    channels: channels.rows.map(channelOf),
    warnings,
  }
}

async function checkMigrations(source: Source): Promise<string[]> {
  const { rows } = await source.select(`SELECT app, name FROM django_migrations WHERE app IN ('api', 'accounts')`)
  return Object.entries(MIGRATIONS).flatMap(([app, { oldest, newest }]) => {
    const names = rows.filter((row) => row.app === app).map((row) => textOf(row.name))
    const numbers = names.map((name) => Number.parseInt(name, 10)).filter((number) => number >= 0)
    if (!numbers.includes(oldest)) {
      throw new ValidationError(
        `the database has no migration ${oldest} of ${app}: upgrade Healthchecks to 3.0 or later`,
      )
    }
    const unknown = names.filter((name) => Number.parseInt(name, 10) > newest)
    return unknown.map((name) => `the migration ${app}.${name} is not known; compare the result with the source`)
  })
}

async function checkColumns(source: Source): Promise<string[]> {
  const warnings: string[] = []
  for (const [table, text] of Object.entries(COLUMNS)) {
    const [needed = [], others = []] = text.split('|').map((part) => part.split(/\s+/).filter((name) => name !== ''))
    const { columns } = await source.select(`SELECT * FROM ${table} LIMIT 0`)
    const missing = needed.find((name) => !columns.includes(name))
    if (missing !== undefined) throw new ValidationError(`the database has no column ${table}.${missing}`)
    const unknown = columns.filter((name) => !needed.includes(name) && !others.includes(name))
    warnings.push(...unknown.map((name) => `the column ${table}.${name} is not known and not taken`))
  }
  return warnings
}

async function findProject(source: Source, code: string | undefined): Promise<Row> {
  const { rows } = await source.select(
    'SELECT id, code, name, ping_key, api_key FROM accounts_project ORDER BY id LIMIT 1000',
  )
  const [only] = rows
  const found =
    code === undefined ? (rows.length === 1 ? only : undefined) : rows.find((row) => uuidOf(row.code) === code)
  if (found) return found
  if (!only) throw new ValidationError('the database has no project')
  const names = rows.map((row) => `${uuidOf(row.code)} ${textOf(row.name)}`.trim())
  const problem =
    code === undefined ? `the database has ${rows.length} projects` : `the database has no project ${code}`
  throw new ValidationError(`${problem}; hc-project must be one of:\n${names.join('\n')}`)
}

function checkOf(row: Row, channels: string[]): HealthchecksCheck {
  return {
    uuid: uuidOf(row.code),
    kind: textOf(row.kind),
    timeout: Number(row.timeout_seconds),
    grace: Number(row.grace_seconds),
    status: textOf(row.status),
    badgeKey: row.badge_key === null || row.badge_key === undefined ? null : uuidOf(row.badge_key),
    channels,
    members: Object.fromEntries([
      ...TEXTS.map((name) => [name, textOf(row[name])]),
      ...FLAGS.filter((name) => row[name] !== undefined).map((name) => [name, isTrue(row[name])]),
    ]),
    schedule: textOf(row.schedule),
    tz: textOf(row.tz),
  }
}

function channelOf(row: Row): HealthchecksChannel {
  return {
    uuid: uuidOf(row.code),
    name: textOf(row.name),
    kind: textOf(row.kind),
    value: textOf(row.value),
    isEmailVerified: isTrue(row.email_verified),
    isDisabled: isTrue(row.disabled),
  }
}

/** SQLite has 32 hex digits. */
function uuidOf(value: unknown): string {
  const hex = textOf(value).toLowerCase().replaceAll('-', '')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function isTrue(value: unknown): boolean {
  return value === true || value === 1
}

function openSource(address: string): Promise<Source> | Source {
  return /^postgres(ql)?:\/\//.test(address) ? openPostgres(address) : openSqlite(address)
}

function openSqlite(path: string): Source {
  if (!existsSync(path)) throw new UnavailableError('the database file does not exist')
  let database: DatabaseSync
  try {
    database = new DatabaseSync(path, { readOnly: true })
    database.exec('BEGIN')
  } catch (error) {
    throw new UnavailableError('the database file cannot be opened', { cause: error })
  }
  return {
    async select(sql, value) {
      try {
        const statement = database.prepare(sql)
        const columns = statement.columns().map(({ name }) => name)
        const rows = value === undefined ? statement.all() : statement.all(Number(value))
        return { rows, columns }
      } catch (error) {
        throw notHealthchecks(error)
      }
    },
    // Django stores spans as microseconds.
    seconds: (column) => `${column} / 1000000`,
    async [Symbol.asyncDispose]() {
      database.close()
    },
  }
}

async function openPostgres(connectionString: string): Promise<Source> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: CONNECT_MS, query_timeout: QUERY_MS })
  // A lost connection is reported by the statement that needs it.
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  } catch (error) {
    await client.end().catch(() => {})
    throw new UnavailableError(`the database cannot be opened: ${codeOf(error)}`, { cause: error })
  }
  return {
    async select(sql, value) {
      try {
        const { rows, fields } = await client.query(sql.replace('?', '$1'), value === undefined ? [] : [value])
        return { rows, columns: fields.map(({ name }) => name) }
      } catch (error) {
        throw notHealthchecks(error)
      }
    },
    seconds: (column) => `extract(epoch FROM ${column})::integer`,
    async [Symbol.asyncDispose]() {
      await client.end()
    },
  }
}

function notHealthchecks(error: unknown): ValidationError {
  return new ValidationError(`the database is not one of Healthchecks: ${messageOf(error)}`)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'it cannot be read'
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'it does not answer'
}
