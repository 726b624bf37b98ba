import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { root } from '../../support/imports.ts'

const folder = join(root, 'migrations')
const migrations = readdirSync(folder)
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name, source: readFileSync(join(folder, name), 'utf8') }))

test('every migration only expands, and holds no long lock on a large table', (t) => {
  t.true(migrations.length > 15)
  const found = migrations
    .map(({ name, source }) => ({ name, faults: faultsOf(name, source) }))
    .filter(({ faults }) => faults.length > 0)
  t.deepEqual(found, [])
})

/** Tables that grow with what users send: a lock that lasts as long as a scan of them stops pings or alerts. */
const LARGE = [
  ...['checks', 'check_deadlines', 'pings', 'ping_bodies', 'flips', 'notifications', 'notification_attempts'],
  ...['alert_decisions', 'incidents', 'log_entries', 'log_tiles', 'packs', 'events', 'webhook_deliveries'],
  ...['audit_log', 'listener_heartbeats', 'outbox'],
]

test('the list of large tables names tables that exist', (t) => {
  const created = new Set(
    migrations.flatMap(({ source }) => [...source.matchAll(/CREATE TABLE (\w+)/g)].map(([, it]) => it)),
  )
  t.deepEqual(
    LARGE.filter((table) => !created.has(table)),
    [],
  )
})

const refused = [
  'ALTER TABLE checks DROP COLUMN name',
  'DROP TABLE flips',
  'ALTER TABLE checks RENAME COLUMN name TO title',
  'ALTER TABLE checks ALTER COLUMN name TYPE varchar(10)',
  'ALTER TABLE checks ALTER COLUMN name SET NOT NULL',
  'ALTER TABLE checks ADD COLUMN extra text NOT NULL',
  'ALTER TABLE checks ADD COLUMN extra uuid DEFAULT gen_random_uuid()',
  'ALTER TABLE checks ADD COLUMN extra bigint GENERATED ALWAYS AS IDENTITY',
  'ALTER TABLE pings ADD CONSTRAINT small CHECK (n > 0)',
  'ALTER TABLE flips ADD CONSTRAINT own FOREIGN KEY (check_id) REFERENCES checks',
  'ALTER TABLE checks ADD CONSTRAINT one UNIQUE (name)',
  'CREATE INDEX by_name ON checks (name)',
  'CREATE INDEX CONCURRENTLY by_name ON checks (name)',
  'LOCK TABLE checks',
  "UPDATE checks SET name = 'x'",
  'DELETE FROM pings',
  'VACUUM FULL pings',
  'REINDEX TABLE pings',
]
for (const sql of refused) {
  test(`a migration with "${sql}" is refused`, (t) => t.is(faultsOf('1_x.ts', migrationOf(sql)).length, 1))
}

const accepted = [
  'ALTER TABLE checks ADD COLUMN extra text',
  "ALTER TABLE checks ADD COLUMN extra text NOT NULL DEFAULT ''",
  'ALTER TABLE pings ADD CONSTRAINT small CHECK (n > 0) NOT VALID',
  'ALTER TABLE pings VALIDATE CONSTRAINT small',
  'ALTER TABLE checks ADD CONSTRAINT one UNIQUE USING INDEX by_name',
  'SET lock_timeout = 0; CREATE INDEX CONCURRENTLY by_name ON checks (name)',
  'CREATE TABLE extras (id bigint); CREATE INDEX by_id ON extras (id); UPDATE extras SET id = 1',
]
for (const sql of accepted) {
  test(`a migration with "${sql}" is accepted`, (t) => t.deepEqual(faultsOf('1_x.ts', migrationOf(sql)), []))
}

test('a migration may remove parts if its name and comment state the same release', (t) => {
  const source = migrationOf('ALTER TABLE checks DROP COLUMN name')
  const stating = `// contracts: checks.name since 1.2\n${source}`
  t.deepEqual(faultsOf('20270301090000_contract_1_2_drop_name.ts', stating), [])
  t.is(faultsOf('20270301090000_contract_1_3_drop_name.ts', stating).length, 1)
  t.is(faultsOf('20270301090000_contract_1_2_drop_name.ts', source).length, 1)
})

function migrationOf(sql: string): string {
  return `export async function up(knex) {\n  await knex.raw(\`${sql};\`)\n}\nexport async function down(knex) {\n  await knex.raw('DROP TABLE x')\n}`
}

/** By this comment a file states that releases from this one on do not use the removed parts. */
const ALLOWED = /^\s*(?:\/\/|\*) contracts: .+ since (\d+)\.(\d+)$/m

/** Changes that break the previous release, which runs beside the new schema while processes are replaced. */
const REMOVALS =
  /\b(DROP (?:TABLE|COLUMN|VIEW|FUNCTION) \w+|RENAME (?:COLUMN |TO )?\w+|ALTER COLUMN \w+ (?:SET DATA )?TYPE)/g

/** Statements that read or write a whole table under a lock that keeps others out. */
const SCANS =
  /\b(?:LOCK TABLE|UPDATE|DELETE FROM|VACUUM FULL|CLUSTER|REINDEX TABLE|CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY)\w+ ON) (?:ONLY )?(\w+)/g

/** Parts of ALTER TABLE that do the same. */
const SCANNING_PARTS: readonly RegExp[] = [
  /ADD COLUMN \w+ [^,]*(?:GENERATED|random|clock_timestamp|nextval|serial)/,
  /ADD CONSTRAINT \w+ (?:CHECK|FOREIGN KEY)(?!.*NOT VALID)/,
  /ADD CONSTRAINT \w+ (?:UNIQUE|PRIMARY KEY)(?! USING INDEX)/,
]

/**
 * Returns the changes of a migration that would break or delay the previous release. A file may state
 * `contracts: <what> since <release>` if its name begins with `<time>_contract_<release>_`: older processes then refuse
 * the schema (`shared/platform/database/migrate.ts`).
 * @param source of the file; its `down` is ignored
 */
function faultsOf(name: string, source: string): string[] {
  const [, major, minor] = ALLOWED.exec(source) ?? []
  if (major !== undefined && new RegExp(`^\\d+_contract_${major}_${minor}_`).test(name)) return []
  const up = source.split(/export (?:async function|const) down/)[0] ?? ''
  // Quoted text describes the schema and does not change it.
  const sql = up.replace(/COMMENT ON [\s\S]*?;/g, '').replace(/\s+/g, ' ')
  const made = new Set([...sql.matchAll(/CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?(\w+)/g)].map(([, it]) => it))
  const isLarge = (table = '') => LARGE.includes(table) && !made.has(table)
  const found = [...sql.matchAll(REMOVALS)].map(([part]) => part)
  for (const [part, table] of sql.matchAll(SCANS)) if (isLarge(table)) found.push(part)
  for (const [, table, rest = ''] of sql.matchAll(/ALTER TABLE (?:ONLY )?(\w+) ([^;]*)/g)) {
    if (made.has(table)) continue
    for (const [change] of rest.matchAll(/ALTER COLUMN \w+ SET NOT NULL/g)) found.push(`${table}: ${change}`)
    for (const [, column, definition = ''] of rest.matchAll(/ADD COLUMN (\w+) ([^,]*)/g))
      if (/NOT NULL/.test(definition) && !/DEFAULT|GENERATED/.test(definition))
        found.push(`${table}.${column}: NOT NULL without DEFAULT`)
    if (isLarge(table))
      for (const part of SCANNING_PARTS) if (part.test(rest)) found.push(`${table}: ${part.exec(rest)?.[0]}`)
  }
  // The build waits for all older transactions; the time limit of `migrate` would leave an invalid index.
  if (/CONCURRENTLY/.test(sql) && !/SET lock_timeout = 0/.test(sql))
    found.push('CONCURRENTLY without SET lock_timeout = 0')
  return found
}
