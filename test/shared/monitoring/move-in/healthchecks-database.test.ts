import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { findKind } from '#shared/monitoring/integrations/kinds.ts'
import { channelSettings } from '#shared/monitoring/move-in/channel-settings.ts'
import { fromHealthchecksRows } from '#shared/monitoring/move-in/healthchecks-rows.ts'
import { readHealthchecksDatabase } from '#shared/monitoring/move-in/healthchecks-store.ts'
import { withClient } from '../../../../stack/database-admin.ts'
import {
  createHealthchecksSchema,
  type HealthchecksVersion,
  writeHealthchecksFile,
} from '../../../support/healthchecks-database.ts'
import { createDatabase, type TestDatabase } from '../../../support/services.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import settings from '../../../vectors/move-in/channel-settings.json' with { type: 'json' }
import fixture from '../../../vectors/move-in/healthchecks-database.json' with { type: 'json' }

const folder = temporaryFolder('healthchecks-database')
let server: TestDatabase

test.before(async () => {
  server = await createDatabase()
})
test.after.always(async () => await server?.drop())

const newest = fixture.versions.at(-1) as HealthchecksVersion

test('the settings of each kind of integration are converted', (t) => {
  for (const { kind, value, config, lacks } of settings) {
    const mapped = channelSettings(kind, value)
    t.is(mapped.lacks, lacks, value)
    const parsed = findKind(kind)?.parse(mapped.config)
    if (lacks !== null) t.deepEqual(mapped.config, config, value)
    else t.like(parsed, { ok: true, config }, value)
    if (kind !== 'msteams' && lacks !== null) t.not(parsed?.ok, true, `${value} needs settings`)
  }
})

for (const version of fixture.versions) {
  test(`a database of Healthchecks ${version.version} gives the same result in SQLite and PostgreSQL`, async (t) => {
    const file = join(folder, `${version.version}.sqlite`)
    writeHealthchecksFile(file, version)
    const before = createHash('sha256').update(readFileSync(file)).digest('hex')
    const rows = await readHealthchecksDatabase(file, fixture.project)
    t.is(createHash('sha256').update(readFileSync(file)).digest('hex'), before)
    t.deepEqual(
      await readHealthchecksDatabase(await createHealthchecksSchema(server.url, version), fixture.project),
      rows,
    )
    t.deepEqual(rows.warnings, [])
    t.like(rows.project, { name: 'Backups', pingKey: 'ping-key-of-hc-1' })

    const { checks, integrations, settings: configs, integrationToDo, notTaken } = fromHealthchecksRows(rows)
    const [first, cron, calendar, mail] = checks
    t.is(checks.length, 4)
    t.like(first, { uuid: fixture.rows.api_check[0]?.code, isPaused: false })
    t.like(first?.settings, { name: 'Nightly backup', slug: 'nightly-backup', timeout: 86_400, grace: 3600 })
    t.is(first?.badgeKey, version.without.includes('badge_key') ? undefined : fixture.rows.api_check[0]?.badge_key)
    t.like(cron?.settings, {
      name: 'Zähler "x" <b>',
      schedule: '0 3 * * 1-5',
      tz: 'Europe/Berlin',
      manual_resume: true,
    })
    t.like(calendar, { isPaused: true })
    t.like(calendar?.settings, { schedule: 'Mon,Fri 02:00', grace: 60 })
    t.like(mail?.settings, { filter_subject: true, success_kw: 'OK,done', timeout: 31_536_000 })
    t.is(mail?.settings.filter_http_body, version.without.includes('filter_http_body') ? undefined : false)
    t.deepEqual(
      integrations.map(({ kind }) => kind),
      ['email', 'email', 'webhook', 'telegram', 'group', 'slack', 'shell'],
    )
    const [verified = '', late = '', hook = ''] = integrations.map(({ id }) => id)
    t.deepEqual(first?.channels, [verified, hook])
    t.like(configs?.[verified], { config: { value: 'ops@example.org' }, isEmailVerified: true, isDisabled: false })
    t.like(configs?.[late], { config: { value: 'late@example.org' }, isEmailVerified: false })
    t.like(configs?.[hook], { isDisabled: true })
    const toDo = Object.values(integrationToDo ?? {})
    t.true(toDo.includes('enter token of integration Ops chat (1 check): the database does not have it'))
    t.true(toDo.includes('send the confirmation mail of integration Late (0 checks) again'))
    t.true(notTaken.some(({ subject }) => subject.includes('linenotify')))
  })
}

test('unknown columns and migrations are warnings, missing ones end the run', async (t) => {
  const read = async (name: string, ...changes: string[]) => {
    const file = join(folder, `${name}.sqlite`)
    writeHealthchecksFile(file, newest, changes)
    return await readHealthchecksDatabase(file, fixture.project)
  }
  const younger = await read(
    'younger',
    'ALTER TABLE api_check ADD COLUMN early integer',
    "INSERT INTO django_migrations VALUES (9, 'api', '0124_early')",
  )
  t.deepEqual(younger.warnings, [
    'the migration api.0124_early is not known; compare the result with the source',
    'the column api_check.early is not known and not taken',
  ])
  await t.throwsAsync(read('older', "DELETE FROM django_migrations WHERE name LIKE '0100%'"), {
    message: 'the database has no migration 100 of api: upgrade Healthchecks to 3.0 or later',
  })
  await t.throwsAsync(read('column', 'ALTER TABLE api_check DROP COLUMN start_kw'), {
    message: 'the database has no column api_check.start_kw',
  })
  await t.throwsAsync(read('table', 'DROP TABLE api_channel'), {
    message: /^the database is not one of Healthchecks: /,
  })
})

test('a database with several projects needs the code of one', async (t) => {
  const file = join(folder, 'projects.sqlite')
  writeHealthchecksFile(file, newest)
  const list = `${fixture.project} Backups\n${fixture.other} Other`
  await t.throwsAsync(readHealthchecksDatabase(file), {
    message: `the database has 2 projects; hc-project must be one of:\n${list}`,
  })
  await t.throwsAsync(readHealthchecksDatabase(file, 'none'), { message: /^the database has no project none;/ })
  t.is((await readHealthchecksDatabase(file, fixture.other)).checks.length, 1)
})

test('a source that cannot be opened is reported without its address', async (t) => {
  const broken = join(folder, 'broken.sqlite')
  writeFileSync(broken, 'SQLite format 3\0nothing')
  for (const [address, message] of [
    [join(folder, 'absent.sqlite'), /^the database file does not exist$/],
    [broken, /^the database (file cannot be opened|is not one of Healthchecks: )/],
    ['postgres://user:pass-word@127.0.0.1:1/hc', /^the database cannot be opened: ECONNREFUSED$/],
    [server.url, /^the database is not one of Healthchecks: relation "django_migrations" does not exist$/],
  ] as const) {
    const error = await t.throwsAsync(readHealthchecksDatabase(address), { message })
    t.false(error?.message.includes('pass-word'))
  }
})

test('PostgreSQL refuses a write while the database is read', async (t) => {
  const url = await createHealthchecksSchema(server.url, newest, [
    'CREATE TABLE written (n integer)',
    'ALTER TABLE api_channel_checks RENAME TO assigned',
    `CREATE FUNCTION write() RETURNS integer LANGUAGE sql VOLATILE AS 'INSERT INTO written VALUES (1) RETURNING n'`,
    'CREATE VIEW api_channel_checks AS SELECT * FROM assigned WHERE write() = 1',
  ])
  await t.throwsAsync(readHealthchecksDatabase(url, fixture.project), { message: /read-only transaction/ })
  const { rows } = await withClient(url, (client) => client.query('SELECT * FROM written'))
  t.deepEqual(rows, [])
})
