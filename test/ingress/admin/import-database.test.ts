import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import test from 'ava'
import type { MoveInReport } from '#shared/monitoring/move-in/report.ts'
import {
  createHealthchecksSchema,
  type HealthchecksVersion,
  writeHealthchecksFile,
} from '../../support/healthchecks-database.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import type { HttpProduct } from '../../support/product.ts'
import { jsonOf, send } from '../../support/send.ts'
import { createDatabase, type TestDatabase } from '../../support/services.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import fixture from '../../vectors/move-in/healthchecks-database.json' with { type: 'json' }
import { importing } from './importing.ts'

const folder = temporaryFolder('import-database')
let app: HttpProduct
let server: TestDatabase
let admin: ReturnType<typeof importing>['admin']
let createProject: ReturnType<typeof importing>['createProject']
let api: ReturnType<typeof importing>['api']

test.before(async () => {
  app = await sharedProduct()
  ;({ admin, createProject, api } = importing(app))
  server = await createDatabase()
})
test.after.always(async () => await server?.drop())

const [oldest, newest] = [fixture.versions[0], fixture.versions.at(-1)] as HealthchecksVersion[]

/** Other uuids and keys, because the tests share a database. Their last digits stay, so that rows keep their order. */
function fresh(): { changes: string[]; uuid: (n: number) => string; channel: (n: number) => string; pingKey: string } {
  const id = randomUUID().slice(0, 8)
  const pingKey = `ping-key-${id}`
  const renew = (column: string) => `'${id}' || substr(CAST(${column} AS text), 9)`
  return {
    changes: [
      `UPDATE api_check SET code = ${renew('code')}`,
      `UPDATE api_check SET badge_key = ${renew('badge_key')}`,
      `UPDATE api_channel SET code = ${renew('code')}`,
      `UPDATE api_channel SET value = replace(value, '0a1b2c3d-', '${id}-')`,
      `UPDATE accounts_project SET ping_key = '${pingKey}' WHERE id = 1`,
    ],
    uuid: (n) => `${id}-2222-4222-8222-00000000000${n}`,
    channel: (n) => `${id}-2222-4222-8222-00000000000${n}`,
    pingKey,
  }
}

type Run = MoveInReport & { exit: number; stderr: string; stdout: string }

async function move(projectId: string, database: string, ...more: string[]): Promise<Run> {
  const own = ['--project', projectId, '--database', database, '--hc-project', fixture.project]
  const { status, stdout, stderr } = await admin('import-from', 'healthchecks', ...own, ...more, '--json')
  return { ...JSON.parse(stdout || '{}'), exit: status, stderr, stdout }
}

async function sourceOf(form: 'SQLite' | 'PostgreSQL', version: HealthchecksVersion | undefined, changes: string[]) {
  if (!version) throw new Error('the fixture has versions')
  const path = join(folder, `${randomUUID()}.sqlite`)
  // PostgreSQL stores uuids as such.
  const typed = changes.map((change) => change.replace(/SET (code|badge_key) = (.*)$/, 'SET $1 = ($2)::uuid'))
  const own = version.without.includes('badge_key')
    ? changes.filter((change) => !change.includes('badge_key'))
    : changes
  if (form === 'PostgreSQL') return await createHealthchecksSchema(server.url, version, typed)
  writeHealthchecksFile(path, version, own)
  return path
}

for (const [form, version] of [
  ['SQLite', oldest],
  ['PostgreSQL', newest],
] as const) {
  test.serial(
    `a ${form} database is imported with integration settings, and a second import changes nothing`,
    async (t) => {
      const made = await createProject()
      const { changes, uuid, channel, pingKey } = fresh()
      const source = await sourceOf(form, version, changes)
      const plan = await move(made.projectId, source)
      t.like(plan, { exit: 0, applied: false, unchanged: 0, conflicts: [] }, plan.stderr)
      t.like(jsonOf(await api(made.apiKey, '/checks/')), { checks: [] }, 'a plan changes nothing')
      const applied = await move(made.projectId, source, '--apply', '--keep-api-key')
      t.deepEqual([applied.create.length, applied.applied], [4, true], applied.stderr)
      t.deepEqual(
        [applied.configured, applied.integrations].map((list) => list.map(({ id }) => id)),
        [
          [channel(1), channel(2), channel(3), channel(5), channel(7)],
          [channel(4), channel(8)],
        ],
      )
      t.true(applied.notTaken.some(({ subject }) => subject === 'API key'))
      t.true(applied.toDo.some((line) => /^enter the settings of integration Restart: .*not enabled/.test(line)))
      for (const secret of ['secret-of', pingKey, '"config"']) t.false(applied.stdout.includes(secret), secret)

      for (const path of [`/ping/${uuid(1)}`, `/ping/${pingKey}/nightly-backup`, `/ping/${pingKey}/mail/start`]) {
        t.is((await send(app.url, path)).status, 200, path)
      }
      const stored = jsonOf(await api(made.apiKey, `/checks/${uuid(1)}`)) as { channels: string }
      t.deepEqual(stored.channels.split(',').sort(), [channel(1), channel(3)])
      t.like(jsonOf(await api(made.apiKey, `/checks/${uuid(3)}`)), { status: 'paused', schedule: 'Mon,Fri 02:00' })
      const row = async (n: number) => {
        const found = await app
          .db('integrations')
          .where({ uuid: channel(n) })
          .first()
        const config = JSON.parse(app.deps.secrets.open('integration', found.sealed_config))
        return { config, isOn: found.disabled_at === null, isVerified: found.email_verified }
      }
      t.like(await row(1), { config: { value: 'ops@example.org' }, isOn: true, isVerified: true })
      t.like(await row(2), { config: { value: 'late@example.org' }, isVerified: false })
      t.like(await row(3), { config: { headers_down: { Authorization: 'secret-of-webhook' } }, isOn: false })
      t.like(await row(4), { config: { id: -100_123 }, isOn: false }, 'the token is a setting of the other server')
      t.like(await row(5), { config: { channels: [channel(1), channel(4)] }, isOn: true })
      t.like(await row(7), { config: { url: 'https://hooks.example.org/services/secret-of-slack' }, isOn: true })

      const { organisation_id } = await app.db('projects').where({ uuid: made.projectId }).first()
      const audited = await app.db('audit_log').where({ organisation_id, action: 'integration.imported' }).orderBy('id')
      t.is(audited.length, 5)
      t.regex(audited[0].target, /\(E-mail\), recipient confirmed in the other service$/)
      t.notRegex(audited[1].target, /confirmed/)

      const again = await move(made.projectId, source, '--apply')
      t.like(again, { applied: true, create: [], update: [], kept: [], conflicts: [], gone: [], unchanged: 4 })
      t.deepEqual([again.integrations, again.configured], [[], []])
    },
  )
}

test.serial('the database adds the settings that an import by API could not read', async (t) => {
  const made = await createProject()
  const { changes, channel } = fresh()
  const source = await sourceOf('SQLite', newest, changes)
  await using server = await openHttpSink()
  const listed = { id: channel(7), name: '', kind: 'slack' }
  server.respond = ({ path }) => ({
    body: JSON.stringify({ checks: [], badges: {}, channels: path.endsWith('/channels/') ? [listed] : [] }),
  })
  const own = ['--project', made.projectId, '--url', server.url, '--api-key', 'k'.repeat(32), '--apply']
  t.is((await admin('import-from', 'healthchecks', ...own)).status, 0)
  const before = await app
    .db('integrations')
    .where({ uuid: channel(7) })
    .first()
  t.not(before.disabled_at, null)
  const moved = await move(made.projectId, source, '--apply')
  t.true(moved.configured.some(({ id }) => id === channel(7)))
  const after = await app
    .db('integrations')
    .where({ uuid: channel(7) })
    .first()
  t.deepEqual([after.disabled_at, after.id], [null, before.id])
  // A later change here is kept.
  await api(made.apiKey, `/channels/${channel(7)}`, 'POST', { config: { url: 'https://hooks.example.org/changed' } })
  await move(made.projectId, source, '--apply')
  const { sealed_config: sealed } = await app
    .db('integrations')
    .where({ uuid: channel(7) })
    .first()
  t.regex(app.deps.secrets.open('integration', sealed), /changed/)
})

test.serial('a ping key of another project is listed, and does not stop the import', async (t) => {
  const [first, second] = [await createProject(), await createProject()]
  const { changes } = fresh()
  await move(first.projectId, await sourceOf('SQLite', newest, changes), '--apply')
  const others = [...fresh().changes.slice(0, 4), changes.at(-1) ?? '']
  const report = await move(second.projectId, await sourceOf('SQLite', newest, others), '--apply')
  t.like(report, { exit: 0, applied: true })
  t.true(report.notTaken.some(({ subject }) => subject === 'ping key'))
})

test.serial('a crash between any two statements leaves nothing', async (t) => {
  const made = await createProject()
  const { changes } = fresh()
  const source = await sourceOf('SQLite', newest, changes)
  const { id } = await app.db('projects').where({ uuid: made.projectId }).first()
  const countRows = async () => {
    const [{ rows }, integrations, keys] = [
      await app.db.raw('SELECT count(*)::int AS n FROM checks WHERE project_id = ?', [id]),
      await app.db('integrations').where({ project_id: id }),
      await app.db('project_keys').where({ project_id: id }),
    ]
    return [rows[0].n, integrations.length, keys.length]
  }
  const before = await countRows()
  let left = 0
  const crash = ({ __knexTxId: isInTransaction }: { __knexTxId?: string }) => {
    if (!isInTransaction) return
    left -= 1
    if (left === 0) throw new Error('the process crashed')
  }
  app.deps.db.on('query', crash)
  t.teardown(() => void app.deps.db.removeListener('query', crash))
  let statements = 1
  for (; ; statements++) {
    left = statements
    const failed = await move(made.projectId, source, '--apply').catch(() => null)
    if (failed?.exit === 0) break
    t.deepEqual(await countRows(), before, `statement ${statements}`)
    if (statements > 500) return t.fail('the import never finishes')
  }
  t.true(statements > 20)
  t.deepEqual(await countRows(), [4, 7, (before[2] ?? 0) + 1])
})

test.serial('options of the two forms exclude each other, and passwords are warned about', async (t) => {
  const { projectId } = await createProject()
  const run = async (...options: string[]) =>
    await admin('import-from', 'healthchecks', '--project', projectId, ...options)
  t.like(await run(), { status: 2, stderr: '--url or --database is missing\n' })
  const both = await run('--url', app.url, '--database', 'hc.sqlite')
  t.like(both, { status: 2, stderr: '--url and --database exclude each other\n' })
  const refused = await run('--database', 'postgres://hc:pass-word@127.0.0.1:1/hc')
  t.is(refused.status, 1)
  t.false((refused.stdout + refused.stderr).includes('pass-word'))
})
