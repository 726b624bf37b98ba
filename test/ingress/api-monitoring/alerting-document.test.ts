import { randomUUID } from 'node:crypto'
import test from 'ava'
import { z } from 'zod'
import { parseJsonBody } from '#shared/monitoring/checks/json-body.ts'
import { exportProject } from '#shared/monitoring/operations/export-project.ts'
import { importProject } from '#shared/monitoring/operations/import-project.ts'
import type { ConfigDocument, ImportReport } from '#shared/monitoring/projects/config-document.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addIntegration, addProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

async function aProject() {
  const owner = await addProject(app.deps)
  const headers = { 'X-Api-Key': owner.rwKey }
  const post = (path: string, body: unknown) =>
    send(app.url, `/api/v3/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const idOf = async (path: string, body: unknown, member = 'id') =>
    z.string().parse(z.record(z.string(), z.unknown()).parse(jsonOf(await post(path, body)))[member])
  return {
    ...owner,
    post,
    idOf,
    exported: async () => jsonOf(await send(app.url, '/api/v3/export', { headers })) as ConfigDocument,
    plan: async (document: unknown) => jsonOf(await post('import?plan=1', document)) as ImportReport,
    apply: async (document: unknown) => jsonOf(await post('import?apply=1', document)) as ImportReport,
  }
}

/** A project with all settings that decide who is notified. */
async function alertingProject() {
  const project = await aProject()
  const phone = await addIntegration(app.deps, project.project.id, 'phone')
  const steps = [
    { repeat: { every: 3600 } },
    { wait: 900, channels: 'phone', hours: [{ every: '0 8 * * *', for: 3600 }] },
  ]
  const policy = await project.idOf('policies/', { name: 'On call', match: 'prod', steps, flapping: null })
  const router = await project.idOf('checks/', { name: 'router' }, 'uuid')
  const rules = { policy, parents: [{ check: router }, { tag: 'switch' }], run: { watch: 'each', max: 600 } }
  const web = await project.idOf('checks/', { name: 'web', tags: 'prod', rules }, 'uuid')
  await project.idOf('windows/', { name: 'Weekly', match: '*', every: 'Sat 02:00', for: 7200, tz: 'Europe/Riga' })
  const starts = '2026-11-22T01:00:00+00:00'
  await project.idOf('windows/', { checks: [web], starts, ends: '2026-11-22T03:00:00+00:00', uptime: 'exclude' })
  return { ...project, phone, policy, router, web }
}

const nothing = { create: [], update: [] }

test('a document with policies, windows and rules changes nothing in its own project', async (t) => {
  const { exported, plan, apply, policy, router, web } = await alertingProject()
  const document = await exported()
  t.is(document.version, 1)
  t.deepEqual(
    document.policies?.map(({ id }) => id),
    [policy],
  )
  t.deepEqual(
    document.windows?.map(({ name }) => name),
    ['Weekly', ''],
  )
  const ruleState = document.checks.filter(({ rules }) => rules !== undefined)
  t.deepEqual(
    ruleState.map(({ uuid }) => uuid),
    [web],
  )
  t.like(ruleState[0]?.rules, { policy, parents: [{ check: router }, { tag: 'switch' }] })
  for (const report of [await plan(document), await apply(document)]) {
    t.like(report, {
      checks: { ...nothing, unchanged: 2 },
      policies: { ...nothing, unchanged: 1 },
      windows: { ...nothing, unchanged: 2 },
    })
  }
  t.deepEqual(await exported(), document)
})

test('a project without policies, windows and rules exports as before', async (t) => {
  const { exported, plan, post } = await aProject()
  await post('checks/', { name: 'plain' })
  const document = await exported()
  t.deepEqual(Object.keys(document), ['version', 'channels', 'checks'])
  t.false(document.checks.some((check) => 'rules' in check))
  t.deepEqual(Object.keys(await plan(document)), ['applied', 'channels', 'checks', 'unknownIntegrations'])
})

test('a whole project moves with its recipients and identities', async (t) => {
  const from = await alertingProject()
  const document = await from.exported()
  // Gone without being deleted, which would retire their uuids: they were never here.
  for (const table of ['checks', 'integrations', 'alert_policies', 'maintenance_windows']) {
    await app.deps.db(table).where({ project_id: from.project.id }).del()
  }
  const to = await aProject()
  const config = { url_down: 'http://hooks.example/' }
  const integrations = [{ id: from.phone.uuid, kind: 'webhook', name: 'phone', config }]
  const planned = await to.plan({ ...document, channels: integrations })
  t.like(await to.exported(), { checks: [] })
  const applied = await to.apply({ ...document, channels: integrations })
  t.deepEqual({ ...applied, applied: false }, planned)
  t.like(applied, { policies: { create: [{ id: from.policy, name: 'On call' }] }, checks: { update: [] } })
  const { channels: _, ...moved } = await to.exported()
  const { channels: __, ...original } = document
  t.deepEqual(moved, original)
  // A run that lasts too long takes the check down: its rules apply.
  const rows = await app.deps.db('checks').where({ uuid: from.web }).pluck('rule_bits')
  t.deepEqual(rows, [1])
  t.like(await to.apply({ ...document, channels: integrations }), {
    checks: nothing,
    policies: nothing,
    windows: nothing,
  })
})

test('differences are listed member by member, and changed once', async (t) => {
  const { exported, plan, apply, web, policy } = await alertingProject()
  const document = await exported()
  const wanted = {
    policies: document.policies?.map((it) => ({ ...it, position: 5 })),
    windows: document.windows?.map((it) => ({ ...it, shown: true })),
    checks: [{ uuid: web, name: 'web 2', rules: { severity: 'info', parents: [] } }],
  }
  const planned = await plan(wanted)
  t.deepEqual(planned.policies?.update, [{ id: policy, name: 'On call', changes: { position: { from: 0, to: 5 } } }])
  t.deepEqual(
    planned.windows?.update.map(({ changes }) => changes),
    [{ shown: { from: false, to: true } }, { shown: { from: false, to: true } }],
  )
  t.like(planned.checks.update[0]?.changes, {
    name: { from: 'web', to: 'web 2' },
    'rules.severity': { from: 'critical', to: 'info' },
    'rules.parents': { to: [] },
  })
  t.deepEqual(await exported(), document)
  t.deepEqual((await apply(wanted)).checks, planned.checks)
  t.like(await apply(wanted), { checks: { ...nothing, unchanged: 1 }, policies: nothing, windows: nothing })
  t.like((await exported()).checks[1]?.rules, { severity: 'info', parents: [], policy })
})

test('an invalid policy, window or rule refuses the whole document', async (t) => {
  const { post, exported, web, router, policy } = await alertingProject()
  const foreign = await alertingProject()
  const before = await exported()
  const uuid = '5a0f2d4e-6f44-4a39-8d2a-7f9a3d2f1c20'
  const ring = { uuid: router, rules: { parents: [{ check: web }] } }
  for (const [document, error] of [
    [{ policies: [{ id: 5 }] }, 'policies[0]: id is not a uuid; export with the read-write key'],
    [{ policies: [{ id: uuid, name: 'x' }] }, 'policies[0]: json validation error: steps is required'],
    [
      { policies: [{ id: uuid, name: 'x', steps: [{ channels: foreign.phone.uuid }] }] },
      `policies[0]: invalid channel identifier: ${foreign.phone.uuid}`,
    ],
    [
      { policies: [{ id: foreign.policy, name: 'x', steps: [{}] }] },
      'policies[0]: id cannot be used: give the policy a new uuid',
    ],
    [{ windows: [{ id: uuid, for: 60 }] }, 'windows[0]: json validation error: match is required without checks'],
    [
      { windows: [{ id: uuid, for: 60, checks: [foreign.web] }] },
      `windows[0]: invalid check identifier: ${foreign.web}`,
    ],
    [{ windows: {} }, 'windows is not an array of objects'],
    [{ checks: [{ uuid: web, rules: 5 }] }, 'checks[0]: json validation error: rules must be an object'],
    [
      { checks: [{ uuid: web, rules: { policy: foreign.policy } }] },
      'checks[0]: json validation error: rules.policy must be the id of a policy of the project',
    ],
    [
      { checks: [{ uuid: web, rules: { ping_auth: { mode: 'bearer', secret: 'x' } } }] },
      'checks[0]: json validation error: rules.ping_auth.secret must be an exported ping secret',
    ],
    [
      { checks: [{ uuid: web, rules: { parents: [{ check: foreign.web }] } }] },
      `checks: invalid check identifier: ${foreign.web}`,
    ],
    [{ checks: [ring] }, 'checks: json validation error: rules.parents must not make a cycle: router > web > router'],
  ] as const) {
    const answer = await post('import?apply=1', document)
    t.deepEqual([answer.status, jsonOf(answer)], [400, { error }])
  }
  t.is((await post('import?plan=1', { checks: [ring] })).status, 400)
  t.deepEqual(await exported(), before)
  t.is(before.policies?.[0]?.id, policy)
})

test('only a document with secrets contains the ping secret; others keep the stored one', async (t) => {
  const { post, exported, apply, project } = await aProject()
  const rules = { ping_auth: { mode: 'bearer' } }
  const created = jsonOf(await post('checks/', { name: 'a', rules }))
  const shape = z.object({ uuid: z.string(), rules: z.object({ ping_auth: z.object({ secret: z.string() }) }) })
  const { uuid, rules: shown } = shape.parse(created)
  const { secret } = shown.ping_auth
  const without = await exported()
  t.false(JSON.stringify(without).includes('ping_auth'))
  const ping = async (authorization: string) =>
    (await send(app.url, `/ping/${uuid}`, { method: 'POST', headers: { authorization } })).status
  t.like(await apply({ checks: [{ ...without.checks[0], rules: { severity: 'info', ping_auth: null } }] }), {
    checks: { update: [{ id: uuid }] },
  })
  t.is(await ping(`Bearer ${secret}`), 200)

  const { deps } = app
  const operator = { kind: 'operator', name: 'root' } as const
  const document = await exportProject(deps.db, operator, { project, withSecrets: true }, deps)
  t.deepEqual(document.checks[0]?.rules?.ping_auth, { mode: 'bearer', secret })
  // The check as a new installation has it, before the document is read there.
  await post(`checks/${uuid}/rules`, { ping_auth: null })
  const parsed = parseJsonBody(Buffer.from(JSON.stringify(document)))
  if (!parsed.ok) throw new Error(parsed.error)
  const given = { project, document: parsed.body, apply: true }
  const report = await importProject(deps.db, operator, given, { ...deps, outbox: null })
  t.false(JSON.stringify(report).includes(secret))
  t.like(report.checks.update[0]?.changes, { 'rules.ping_secret': { to: '(given)' } })
  t.is(await ping(`Bearer ${secret}`), 200)
  t.is(await ping('Bearer nothing'), 401)
  const again = await importProject(deps.db, operator, given, { ...deps, outbox: null })
  t.like(again.checks, { ...nothing, unchanged: 1 })
})

test('schedules, overrides and people move with the document, and unknown people are reported', async (t) => {
  const from = await aProject()
  const layers = [{ people: ['anna@example.org'], start: '2026-01-05T09:00', rotation: { unit: 'week' } }]
  const schedule = await from.idOf('on-call/schedules/', { name: 'Primary', layers })
  const ended = { start: '2026-01-05T09:00:00Z', end: '2126-01-05T09:00:00Z' }
  t.is((await from.post(`on-call/schedules/${schedule}/overrides/`, { person: null, ...ended })).status, 400)
  const end = `${new Date(Date.now() + 86_400_000).toISOString().slice(0, 19)}Z`
  const override = await from.idOf(`on-call/schedules/${schedule}/overrides/`, { person: 'ben@example.org', end })
  const steps = [{ people: [{ schedule }, { person: 'carl@example.org' }] }]
  await from.idOf('policies/', { name: 'On call', match: '*', steps, notify_ack: true })
  const document = await from.exported()
  t.is(document.schedules?.[0]?.overrides[0]?.id, override)

  const fresh = (text: string) => text.replaceAll(schedule, NEW_SCHEDULE).replaceAll(override, NEW_OVERRIDE)
  const policy = document.policies?.[0]?.id ?? ''
  const copy: unknown = JSON.parse(fresh(JSON.stringify(document)).replaceAll(policy, NEW_POLICY))
  const to = await aProject()
  const report = await to.plan(copy)
  t.deepEqual(
    [report.schedules, report.policies].map((changes) => changes?.create.length),
    [1, 1],
  )
  t.deepEqual(report.unknownPeople, ['anna@example.org', 'ben@example.org', 'carl@example.org'])
  t.true((await to.apply(copy)).applied)
  const moved = await to.exported()
  t.deepEqual(moved.policies, (copy as ConfigDocument).policies)
  t.deepEqual(moved.schedules?.[0]?.layers, document.schedules?.[0]?.layers)
  t.is(moved.schedules?.[0]?.overrides[0]?.id, NEW_OVERRIDE)
  t.like(await to.plan(copy), { schedules: { create: [], update: [], unchanged: 1 } })

  const { schedules: _, ...without } = copy as ConfigDocument
  const alone = await (await aProject()).post('import?plan=1', without)
  t.is(alone.status, 400)
  t.regex(alone.text, /policies\[0\]: json validation error: steps\[0\]\.people\[0\]\.schedule must be/)
})

const NEW_SCHEDULE = randomUUID()
const NEW_OVERRIDE = randomUUID()
const NEW_POLICY = randomUUID()
