import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { root } from '../../support/imports.ts'

test('every migration only expands', (t) => {
  const folder = join(root, 'migrations')
  const files = readdirSync(folder).filter((name) => name.endsWith('.ts'))
  t.true(files.length > 15)
  const found = files
    .map((name) => ({ name, contractions: contractionsOf(readFileSync(join(folder, name), 'utf8')) }))
    .filter(({ contractions }) => contractions.length > 0)
  t.deepEqual(found, [])
})

/** Tables that grow with what users send: an index that is not built concurrently keeps writers out while it is. */
const LARGE = [
  ...[
    'checks',
    'check_deadlines',
    'pings',
    'ping_bodies',
    'flips',
    'notifications',
    'notification_attempts',
    'alert_decisions',
  ],
  ...[
    'incidents',
    'log_entries',
    'log_tiles',
    'packs',
    'webhook_events',
    'webhook_deliveries',
    'audit_log',
    'listener_heartbeats',
  ],
]

/** Comment by which a file states that the previous release does not use the removed parts. */
const ALLOWED = /^\s*(?:\/\/|\*) contracts: .+ since \S+/m

/**
 * Returns the changes of a migration that would break or delay the previous release, which runs beside the new schema
 * while processes are replaced one after another. Empty if the file states `contracts: <what> since <release>`.
 * @param source of the file; its `down` is ignored
 */
function contractionsOf(source: string): string[] {
  if (ALLOWED.test(source)) return []
  const up = source.split(/export async function down/)[0] ?? ''
  // Quoted text describes the schema and does not change it.
  const sql = up.replace(/COMMENT ON [\s\S]*?;/g, '').replace(/\s+/g, ' ')
  const made = new Set([...sql.matchAll(/CREATE TABLE (?:IF NOT EXISTS )?(\w+)/g)].map(([, table]) => table))
  const found: string[] = []
  for (const [, verb] of sql.matchAll(
    /\b(DROP (?:TABLE|COLUMN|VIEW|FUNCTION) \w+|RENAME (?:COLUMN |TO )?\w+|ALTER COLUMN \w+ (?:SET DATA )?TYPE)/g,
  ))
    if (verb) found.push(verb)
  for (const [, table, rest] of sql.matchAll(/ALTER TABLE (\w+) ([^;]*)/g)) {
    if (made.has(table)) continue
    for (const [, change] of (rest ?? '').matchAll(/(ALTER COLUMN \w+ SET NOT NULL)/g))
      found.push(`${table}: ${change}`)
    for (const [, column, definition] of (rest ?? '').matchAll(/ADD COLUMN (\w+) ([^,]*)/g))
      if (/NOT NULL/.test(definition ?? '') && !/DEFAULT|GENERATED/.test(definition ?? ''))
        found.push(`${table}.${column}: NOT NULL without DEFAULT`)
  }
  for (const [, name, table = ''] of sql.matchAll(/CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY)(\w+) ON (\w+)/g))
    if (LARGE.includes(table) && !made.has(table)) found.push(`index ${name} on ${table} is not built concurrently`)
  return found
}
