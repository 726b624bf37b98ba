import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { contractionsOf } from '../../support/contractions.ts'
import { root } from '../../support/imports.ts'

const up = (sql: string) => `export async function up(knex) { await knex.raw(\`${sql}\`) }
export async function down(knex) { await knex.raw('DROP TABLE all_of_it') }`

test('a migration that the release before could not live with is named', (t) => {
  const cases: [string, string][] = [
    ['DROP TABLE notes', 'DROP TABLE notes'],
    ['ALTER TABLE notes DROP COLUMN text', 'DROP COLUMN text'],
    ['ALTER TABLE notes RENAME COLUMN a TO b', 'RENAME COLUMN a'],
    ['ALTER TABLE notes ALTER COLUMN n TYPE bigint', 'ALTER COLUMN n TYPE'],
    ['ALTER TABLE notes ALTER COLUMN n SET NOT NULL', 'notes: ALTER COLUMN n SET NOT NULL'],
    ['ALTER TABLE notes ADD COLUMN n int NOT NULL', 'notes.n: NOT NULL without DEFAULT'],
    ['CREATE INDEX a_idx ON pings (at)', 'index a_idx on pings is not built concurrently'],
  ]
  for (const [sql, said] of cases) t.deepEqual(contractionsOf(up(sql)), [said])
  t.deepEqual(contractionsOf(`// contracts: notes, which nobody reads since 0.3\n${up('DROP TABLE notes')}`), [])
})

test('what only expands is not', (t) => {
  for (const sql of [
    'CREATE TABLE notes (n int NOT NULL); CREATE INDEX notes_idx ON notes (n)',
    'ALTER TABLE notes ADD COLUMN n int, ADD COLUMN m int NOT NULL DEFAULT 0',
    'CREATE INDEX CONCURRENTLY a_idx ON pings (at)',
    `COMMENT ON COLUMN notes.n IS 'DROP TABLE notes'; ALTER TABLE notes ALTER COLUMN n DROP NOT NULL`,
  ])
    t.deepEqual(contractionsOf(up(sql)), [], sql)
})

/** From before the first release: nobody ran the code that they part with. */
const BEFORE_FIRST_RELEASE = [
  '20261121130400_index_checks_by_name.ts',
  '20261121140400_index_age_of_deliveries.ts',
  '20261122130300_key_receivables_by_identity.ts',
  '20261122170000_create_gaps.ts',
  '20261122170100_create_windows.ts',
]

test('every migration only expands', (t) => {
  const folder = join(root, 'migrations')
  const files = readdirSync(folder).filter((name) => name.endsWith('.ts'))
  t.true(files.length > 50)
  const found = files
    .map((name) => ({ name, contractions: contractionsOf(readFileSync(join(folder, name), 'utf8')) }))
    .filter(({ contractions }) => contractions.length > 0)
  t.deepEqual(
    found.filter(({ name }) => !BEFORE_FIRST_RELEASE.includes(name)),
    [],
  )
})
