import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import type { MoveInReport } from '#shared/monitoring/move-in/report.ts'
import { eventually } from '../../support/eventually.ts'
import { type HttpSink, openHttpSink } from '../../support/http-sink.ts'
import type { HttpProduct } from '../../support/product.ts'
import { jsonOf, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { importing } from './importing.ts'

const API_KEY = `hcw_${'k'.repeat(28)}`

let app: HttpProduct
let source: HttpSink
let folder: string
let keyFile: string
let admin: ReturnType<typeof importing>['admin']
let createProject: ReturnType<typeof importing>['createProject']
let api: ReturnType<typeof importing>['api']

test.before(async () => {
  app = await sharedProduct({ workers: ['sweeper'] })
  ;({ admin, createProject, api } = importing(app))
  source = await openHttpSink()
  folder = await mkdtemp(join(tmpdir(), 'import-from-'))
  keyFile = join(folder, 'key')
  await writeFile(keyFile, `${API_KEY}\n`)
})

test.after.always(async () => {
  await source?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

interface OtherCheck {
  [member: string]: unknown
  uuid: string
  name: string
}

/** A check as the API of Healthchecks describes it. */
function other(n: number, members: Record<string, unknown> = {}): OtherCheck {
  const uuid = randomUUID()
  return {
    ...{ uuid, name: `Job ${n}`, slug: `job-${n}`, tags: 'moved', desc: '', grace: 3600, timeout: 86_400 },
    ...{ manual_resume: false, methods: '', start_kw: '', success_kw: '', failure_kw: '', filter_subject: false },
    ...{ filter_body: false, filter_http_body: false, filter_default_fail: false, status: 'up', channels: '' },
    ping_url: `https://hc.example.org/ping/${uuid}`,
    badge_url: `https://hc.example.org/b/2/${randomUUID()}.svg`,
    ...members,
  }
}

function serve(checks: readonly object[], integrations: readonly object[] = []): void {
  const answers: Record<string, object> = {
    '/api/v3/checks/': { checks },
    '/api/v3/channels/': { channels: integrations },
    '/api/v3/badges/': { badges: {} },
  }
  source.respond = ({ path, headers }) =>
    headers['x-api-key'] === API_KEY ? { body: JSON.stringify(answers[path] ?? {}) } : { status: 401 }
}

/** Imports from the fixture. */
async function move(projectId: string, ...more: string[]): Promise<MoveInReport & { exit: number }> {
  const own = ['--project', projectId, '--url', source.url, '--api-key-file', keyFile]
  const { status, stdout, stderr } = await admin('import-from', 'healthchecks', ...own, ...more, '--json')
  if (stdout === '') throw new Error(stderr)
  return { ...JSON.parse(stdout), exit: status }
}

test.serial('a Healthchecks project is imported with its uuids, and a second import changes nothing', async (t) => {
  const made = await createProject()
  const integration = { id: randomUUID(), name: 'Ops', kind: 'email' }
  const checks = Array.from({ length: 200 }, (_, n) =>
    other(n, n === 0 ? { channels: integration.id, status: 'paused' } : n === 1 ? { name: 'Zähler "x" <b>' } : {}),
  )
  checks.push(
    other(200, { timeout: undefined, schedule: '0 3 * * 1-5', tz: 'Europe/Berlin' }),
    other(201, { grace: 1 }),
  )
  serve(checks, [integration])
  const plan = await move(made.projectId)
  t.like(plan, { exit: 0, applied: false, unchanged: 0, conflicts: [] })
  t.is(plan.create.length, 201)
  t.true(plan.notTaken.some(({ reason }) => reason === 'grace is too small'))
  t.like(jsonOf(await api(made.apiKey, '/checks/')), { checks: [] }, 'a plan changes nothing')

  const pingKey = `other-ping-key-${randomUUID().slice(0, 8)}`
  const keys = ['--ping-key', pingKey, '--keep-api-key']
  t.like(await move(made.projectId, '--apply', ...keys), { exit: 0, applied: true })
  const [first, second] = checks
  if (!first || !second) throw new Error('the fixture has checks')
  t.like(jsonOf(await api(API_KEY, `/checks/${first.uuid}`)), {
    status: 'paused',
    channels: integration.id,
    grace: 3600,
  })
  t.like(jsonOf(await api(made.apiKey, `/checks/${second.uuid}`)), { name: second.name, status: 'new' })
  for (const path of [`/ping/${second.uuid}/start`, `/ping/${second.uuid}`, `/ping/${pingKey}/job-2`]) {
    t.is((await send(app.url, path)).status, 200, path)
  }
  // The client as its authors published it; runitor and borgmatic send requests of these forms.
  const { HealthChecksApiClient, HealthChecksPingClient } = createRequire(import.meta.url)('healthchecks-io-client')
  const client = { timeout: 60_000, maxContentLength: 1e6 }
  const pings = new HealthChecksPingClient({ uuid: second.uuid, baseUrl: `${app.url}/ping`, ...client })
  await pings.start()
  await pings.success()
  const known = new HealthChecksApiClient({ apiKey: API_KEY, baseUrl: app.url, apiVersion: 3, ...client })
  t.like(await known.getCheck(second.uuid), { name: second.name, status: 'up', n_pings: 4 })
  const rid = randomUUID()
  for (const form of [`start?rid=${rid}`, `0?rid=${rid}`, 'log', 'fail', '1']) {
    t.is((await send(app.url, `/ping/${second.uuid}/${form}`, { method: 'POST', body: 'output' })).status, 200, form)
  }
  const badge = new URL(String(second.badge_url)).pathname
  t.is((await send(app.url, badge)).status, 200)
  const [stored] = await app.db('integrations').where({ uuid: integration.id })
  t.not(stored?.disabled_at, null, 'an integration without settings is switched off')
  const enable = await api(made.apiKey, `/channels/${integration.id}`, 'POST', { disabled: false })
  t.is(enable.status, 400)
  t.is(
    (await api(made.apiKey, `/channels/${integration.id}`, 'POST', { config: { value: 'ops@example.org' } })).status,
    200,
  )
  t.is((await app.db('integrations').where({ uuid: integration.id }).first())?.disabled_at, null)

  const again = await move(made.projectId, '--apply', ...keys)
  t.like(again, { applied: true, create: [], update: [], kept: [], conflicts: [], gone: [], integrations: [] })
  t.is(again.unchanged, 201)
})

test.serial('a second import merges, and reports settings that changed on both sides', async (t) => {
  const made = await createProject()
  const [there, here, both, gone] = [other(1), other(2), other(3), other(4)]
  serve([there, here, both, gone])
  await move(made.projectId, '--apply')
  await api(made.apiKey, `/checks/${here.uuid}`, 'POST', { name: 'Renamed here' })
  await api(made.apiKey, `/checks/${both.uuid}`, 'POST', { grace: 120 })
  serve([{ ...there, timeout: 60 }, here, { ...both, grace: 240 }])
  const plan = await move(made.projectId, '--apply')
  t.like(plan, { exit: 3, applied: false })
  t.deepEqual(
    plan.conflicts.map(({ id, changes }) => [id, changes]),
    [[both.uuid, { grace: { from: 120, to: 240 } }]],
  )
  t.deepEqual(
    [plan.update, plan.kept, plan.gone].map((list) => list.map(({ id }) => id)),
    [[there.uuid], [here.uuid], [gone.uuid]],
  )
  const own = ['--project', made.projectId, '--url', source.url, '--api-key-file', keyFile]
  const { stdout } = await admin('import-from', 'healthchecks', ...own, '--apply')
  t.regex(stdout, /^Not applied: 1 conflict\. Use --skip-conflicts .*, or --overwrite /)
  t.like(await move(made.projectId, '--apply', '--skip-conflicts'), { exit: 3, applied: true })
  const settings = async ({ uuid }: OtherCheck) => jsonOf(await api(made.apiKey, `/checks/${uuid}`))
  t.like(await settings(there), { timeout: 60 })
  t.like(await settings(here), { name: 'Renamed here' })
  t.like(await settings(both), { grace: 120 })
  t.like(await settings(gone), { name: gone.name })
  t.like(await move(made.projectId, '--apply', '--overwrite'), { exit: 0, applied: true })
  t.like(await settings(both), { grace: 240 })
  t.like(await settings(here), { name: 'Renamed here' }, 'a setting that only this service changed stays')
})

test.serial('the plan names the schedule of each new check, and slugs that several checks have', async (t) => {
  const { projectId } = await createProject()
  const cron = { timeout: undefined, schedule: '15 3 * * *', tz: 'America/New_York', grace: 1800 }
  const [first, second] = [other(1, { slug: 'sync', ...cron }), other(2, { slug: 'sync', status: 'paused' })]
  serve([first, second, other(3)])
  const own = ['--project', projectId, '--url', source.url, '--api-key-file', keyFile]
  const { stdout } = await admin('import-from', 'healthchecks', ...own)
  t.true(stdout.includes(`  ${first.uuid} Job 1: 15 3 * * * America/New_York + 30 minutes\n`), stdout)
  t.true(stdout.includes(`  ${second.uuid} Job 2: every 1 day + 1 hour (paused)\n`))
  t.regex(stdout, /2 checks share the slug sync, so pings by this slug get 409/)
  t.notRegex(stdout, /the slug job-3/)
})

test.serial('nothing is to be done for an integration of another project, or with settings', async (t) => {
  const [made, another] = [await createProject(), await createProject()]
  const integration = { id: randomUUID(), name: 'Ops', kind: 'email' }
  serve([], [integration])
  const toDo = async (projectId: string) => (await move(projectId, '--apply')).toDo
  t.deepEqual(await toDo(made.projectId), ['enter the settings of integration Ops (0 checks)'])
  t.deepEqual(await toDo(another.projectId), [])
  await api(made.apiKey, `/channels/${integration.id}`, 'POST', { config: { value: 'ops@example.org' } })
  t.deepEqual(await toDo(made.projectId), [])
})

test.serial('checks of another source are not reported as missing', async (t) => {
  const made = await createProject()
  const [first, kept, second] = [other(1), other(2), other(3)]
  const goneOf = async (...checks: OtherCheck[]) => {
    serve(checks)
    return (await move(made.projectId, '--apply')).gone.map(({ id }) => id)
  }
  await goneOf(first, kept)
  t.deepEqual(await goneOf(second), [])
  t.deepEqual(await goneOf(kept), [first.uuid])
})

test.serial('the uuid of a deleted check returns only to its organisation', async (t) => {
  const organisation = randomUUID()
  const [trial, real, foreign] = [
    await createProject(organisation),
    await createProject(organisation),
    await createProject(),
  ]
  const check = other(1)
  serve([check])
  await move(trial.projectId, '--apply')
  const reason = 'the uuid belongs to a check of another project or to a deleted check'
  t.is((await move(real.projectId)).conflicts[0]?.reason, 'the uuid belongs to a check of the project A')
  t.is((await api(trial.apiKey, `/checks/${check.uuid}`, 'DELETE')).status, 200)
  t.like((await move(foreign.projectId, '--apply')).conflicts[0], { id: check.uuid, reason })
  t.like(await move(real.projectId, '--apply'), { exit: 0, applied: true })
  t.is((await send(app.url, `/ping/${check.uuid}`)).status, 200)
  await api(real.apiKey, `/checks/${check.uuid}`, 'DELETE')
  t.like(await move(foreign.projectId, '--apply', '--reclaim'), { exit: 0, applied: true })
})

test.serial('keys are not printed, and a key of another project is refused', async (t) => {
  const [made, holder] = [await createProject(), await createProject()]
  serve([other(1)])
  const own = ['--project', made.projectId, '--url', source.url]
  const shown = await admin('import-from', 'healthchecks', ...own, '--api-key', API_KEY)
  t.is(shown.status, 0)
  t.regex(shown.stderr, /^--api-key shows the key to every user/)
  t.false((shown.stdout + shown.stderr).includes(API_KEY))
  const taken = await admin(
    'import-from',
    'healthchecks',
    ...own,
    '--api-key-file',
    keyFile,
    '--apply',
    '--ping-key',
    holder.pingKey,
  )
  t.is(taken.status, 1)
  t.regex(taken.stderr, /^ping_key cannot be used/)
  t.false(taken.stderr.includes(holder.pingKey))
  t.like(jsonOf(await api(made.apiKey, '/checks/')), { checks: [] }, 'nothing is stored without the key')
  const without = await admin('import-from', 'healthchecks', ...own)
  t.deepEqual(
    [without.status, without.stderr],
    [2, 'the API key is missing: use --api-key-file, the setting IMPORT_API_KEY, or --api-key\n'],
  )
  const wrong = await admin('import-from', 'healthchecks', ...own, '--api-key', 'x'.repeat(32))
  t.deepEqual([wrong.status, wrong.stderr], [1, 'the other service refuses the API key: is it the read-write key?\n'])
})

test.serial('an imported check that no job pings goes down after the start', async (t) => {
  const made = await createProject()
  const [silent, heard, paused] = [other(1), other(2), other(3, { status: 'paused' })]
  serve([silent, heard, paused])
  await move(made.projectId, '--apply')
  const uuids = [silent.uuid, heard.uuid, paused.uuid]
  await app.db('checks').whereIn('uuid', uuids).update({ timeout_seconds: 1, grace_seconds: 1 })
  await send(app.url, `/ping/${heard.uuid}/log`)
  await eventually(
    'the ping to be recorded',
    async () => Number((await app.db('checks').where({ uuid: heard.uuid }).first())?.n_pings) === 1,
  )
  const started = await admin('import-from', 'start', '--project', made.projectId, '--json')
  t.deepEqual(JSON.parse(started.stdout), { watched: 1 })
  await eventually('the silent check to go down', async () => {
    const check = jsonOf(await api(made.apiKey, `/checks/${silent.uuid}`)) as { status: string }
    return check.status === 'down'
  })
  const flips = await app.db('flips').join('checks', 'checks.id', 'flips.check_id').where({ uuid: silent.uuid })
  t.deepEqual(
    flips.map(({ from_status, to_status, reason }) => [from_status, to_status, reason]),
    [['new', 'down', 'timeout']],
  )
  t.like(jsonOf(await api(made.apiKey, `/checks/${heard.uuid}`)), { status: 'new' })
  t.like(jsonOf(await api(made.apiKey, `/checks/${paused.uuid}`)), { status: 'paused' })
})

test.serial('a change of settings keeps the first deadline, and a pause clears it', async (t) => {
  const made = await createProject()
  const check = other(1)
  serve([check])
  await move(made.projectId, '--apply')
  await admin('import-from', 'start', '--project', made.projectId)
  const deadline = async () => {
    const row = await app.db('checks').where({ uuid: check.uuid }).first()
    return { seconds: row?.alert_after && (row.alert_after - row.expected_from) / 1000, from: row?.expected_from }
  }
  t.is((await deadline()).seconds, 90_000)
  await api(made.apiKey, `/checks/${check.uuid}`, 'POST', { timeout: 600, grace: 60 })
  t.is((await deadline()).seconds, 660)
  await api(made.apiKey, `/checks/${check.uuid}/pause`, 'POST')
  await api(made.apiKey, `/checks/${check.uuid}/resume`, 'POST')
  t.deepEqual(await deadline(), { seconds: null, from: null })
})
