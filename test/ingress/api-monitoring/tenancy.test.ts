import { randomUUID } from 'node:crypto'
import test from 'ava'
import { IMPLICIT_PLAN } from '#shared/monitoring/alerting/policy.ts'
import { insertPolicy } from '#shared/monitoring/alerting/policy-store.ts'
import { uniqueKey } from '#shared/monitoring/checks/slug.ts'
import { deleteCheck } from '#shared/monitoring/checks/store.ts'
import type { Imported } from '#shared/monitoring/move-in/imported.ts'
import { createScheduleFeed } from '#shared/monitoring/operations/calendar-feeds.ts'
import { savePlan } from '#shared/monitoring/operations/move-in-plans.ts'
import { addOverride, createSchedule } from '#shared/monitoring/operations/schedules.ts'
import { offerSwap } from '#shared/monitoring/operations/swaps.ts'
import { deleteProject } from '#shared/monitoring/projects/changes-store.ts'
import { query } from '#shared/platform/database/sql.ts'
import { monitoringRoutes } from '../../../ingress/api-monitoring/routes.ts'
import type { Route } from '../../../ingress/route.ts'
import { eventually } from '../../support/eventually.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addCheck, addIntegration, addProject, type TestProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

const keyed = monitoringRoutes.filter((route) => route.security.length > 0)
const naming = keyed.filter((route) => Object.keys(route.params).length > 0)
const writing = keyed.filter((route) => !route.security.includes('projectKeyReadOnly'))

async function someProject() {
  const project = await addProject(app.deps)
  const check = await addCheck(app.deps, project.project.id, { name: 'theirs', slug: 'theirs', tags: 'x' })
  const integration = await addIntegration(app.deps, project.project.id, 'theirs')
  const policy = await insertPolicy(app.deps.db, project.project.id, {
    name: 'theirs',
    match: '*',
    position: 0,
    plan: IMPLICIT_PLAN,
  })
  const incident = randomUUID()
  await app.deps.db('incidents').insert({
    id: incident,
    project_id: project.project.id,
    check_id: check.id,
    state: 'alerting',
    is_direct: true,
    severity: 'critical',
    down_at: new Date(),
  })
  const imported: Imported = { source: 'cronitor', checks: [], integrations: [], notTaken: [], toDo: [] }
  const plan = await savePlan(app.deps.db, { project: project.project, imported }, app.deps)
  const onCall = await someSchedule(project)
  return { ...project, check, integration, policy, incident, plan, ...onCall, window: await someWindow(project) }
}

async function someSchedule({ project }: TestProject) {
  const actor = { kind: 'operator', name: 'test' } as const
  const body = <T extends object>(fields: T) => Object.assign(Object.create(null), fields)
  const layer = { people: ['theirs@example.org'], start: '2026-01-05T09:00', rotation: { unit: 'week' } }
  const { db, now } = app.deps
  const input = { project, now: now() }
  const { uuid } = await createSchedule(db, actor, { ...input, body: body({ name: 'theirs', layers: [layer] }) })
  const override = await addOverride(db, actor, {
    ...input,
    uuid,
    by: '',
    body: body({ person: 'theirs@example.org', end: '2099-01-01T00:00:00Z', start: '2098-12-31T00:00:00Z' }),
  })
  const { secrets } = app.deps
  const { feed } = await createScheduleFeed(db, actor, { project, uuid, name: 'theirs', by: '', secrets })
  const swap = await offerSwap(db, actor, {
    ...input,
    uuid,
    body: body({ from: 'theirs@example.org', start: '2098-01-01T00:00:00Z', end: '2098-01-02T00:00:00Z' }),
  })
  return { schedule: uuid, override: override.uuid, feed: feed.uuid, swap: swap.uuid }
}

/** Made as its owner would: a body that its rules take. */
async function someWindow({ rwKey }: TestProject): Promise<string> {
  const body = JSON.stringify({
    name: 'theirs',
    match: '*',
    starts: '2026-12-01T00:00:00Z',
    ends: '2026-12-01T01:00:00Z',
  })
  const answer = await send(app.url, '/api/v3/windows/', { method: 'POST', headers: { 'X-Api-Key': rwKey }, body })
  const { id } = jsonOf(answer) as { id?: string }
  if (id === undefined) throw new Error(`no window was made: ${answer.text}`)
  return id
}

type Owned = Awaited<ReturnType<typeof someProject>>

function pathOf(route: Route, owned: Owned): string {
  const isIntegration = route.path.includes('/channels/')
  const values: Record<string, string> = {
    uuid: isIntegration ? owned.integration.uuid : owned.check.uuid,
    unique_key: uniqueKey(owned.check.uuid),
    n: '1',
    source: 'web1',
    policy: owned.policy.uuid,
    window: owned.window,
    plan: owned.plan,
    incident: owned.incident,
    schedule: owned.schedule,
    override: owned.override,
    feed: owned.feed,
    swap: owned.swap,
  }
  return route.path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')
}

async function call(route: Route, path: string, key: string) {
  const body = route.method === 'post' ? { body: JSON.stringify({ name: 'changed', disabled: true }) } : {}
  return await send(app.url, path, { method: route.method.toUpperCase(), headers: { 'X-Api-Key': key }, ...body })
}

/** Everything that is stored of a project and could have been changed. */
async function stored({ project }: TestProject): Promise<string> {
  const checks = await query(app.deps.db, 'SELECT * FROM checks WHERE project_id = ? ORDER BY id', [project.id])
  const integrations = await query(app.deps.db, 'SELECT * FROM integrations WHERE project_id = ? ORDER BY id', [
    project.id,
  ])
  const sent = await query(
    app.deps.db,
    'SELECT n.* FROM notifications n JOIN integrations c ON c.id = n.integration_id WHERE c.project_id = ?',
    [project.id],
  )
  const policies = await query(app.deps.db, 'SELECT * FROM alert_policies WHERE project_id = ? ORDER BY id', [
    project.id,
  ])
  const incidents = await query(app.deps.db, 'SELECT * FROM incidents WHERE project_id = ? ORDER BY n', [project.id])
  const rules = await query(
    app.deps.db,
    'SELECT r.* FROM check_rules r JOIN checks c ON c.id = r.check_id WHERE c.project_id = ?',
    [project.id],
  )
  const windows = await query(app.deps.db, 'SELECT * FROM maintenance_windows WHERE project_id = ? ORDER BY id', [
    project.id,
  ])
  const ofSchedules = 'schedule_id IN (SELECT id FROM schedules WHERE project_id = ?) ORDER BY id'
  const schedules = await query(app.deps.db, 'SELECT * FROM schedules WHERE project_id = ? ORDER BY id', [project.id])
  const overrides = await query(app.deps.db, `SELECT * FROM overrides WHERE ${ofSchedules}`, [project.id])
  return JSON.stringify([checks, integrations, sent, policies, incidents, rules, windows, schedules, overrides])
}

test('the matrix covers every operation that names something', (t) => {
  t.true(naming.length >= 24)
  t.true(writing.length >= 22)
})

for (const route of naming) {
  test(`${route.operationId} with the key of another project sees and changes nothing`, async (t) => {
    const [own, theirs] = [await someProject(), await someProject()]
    const before = await stored(theirs)
    const answer = await call(route, pathOf(route, theirs), own.rwKey)
    t.true(answer.status === 403 || answer.status === 404, `${answer.status} ${answer.text}`)
    t.is(answer.text, '')
    t.is(await stored(theirs), before)
  })
}

for (const route of writing) {
  test(`${route.operationId} with a read-only key is refused like a wrong key, and changes nothing`, async (t) => {
    const own = await someProject()
    const before = await stored(own)
    const answer = await call(route, pathOf(route, own), own.roKey)
    t.deepEqual([answer.status, jsonOf(answer)], [401, { error: 'wrong api key' }])
    t.is(await stored(own), before)
  })
}

for (const route of keyed.filter((it) => it.security.includes('projectKeyReadOnly'))) {
  test(`${route.operationId} with a read-only key shows nothing that could ping or change a check`, async (t) => {
    const own = await someProject()
    const answer = await call(route, pathOf(route, own), own.roKey)
    t.is(answer.status, 200)
    const secrets = [own.check.uuid, own.integration.uuid, own.rwKey, own.pingKey, '/ping/']
    for (const secret of secrets) t.false(answer.text.includes(secret), secret)
  })
}

test('an integration of another project gets the error of an unknown one', async (t) => {
  const [own, theirs] = [await someProject(), await someProject()]
  for (const path of ['/api/v3/checks/', `/api/v3/checks/${own.check.uuid}`]) {
    const name = (integrations: string) =>
      send(app.url, path, {
        method: 'POST',
        headers: { 'X-Api-Key': own.rwKey },
        body: JSON.stringify({ channels: integrations }),
      })
    const id = theirs.integration.uuid
    t.deepEqual(jsonOf(await name(id)), { error: `invalid channel identifier: ${id}` })
    t.deepEqual(jsonOf(await name('theirs too')), { error: 'invalid channel identifier: theirs too' })
  }
})

test('a group cannot have a member of another project', async (t) => {
  const [own, theirs] = [await someProject(), await someProject()]
  const answer = await send(app.url, '/api/v3/channels/', {
    method: 'POST',
    headers: { 'X-Api-Key': own.rwKey },
    body: JSON.stringify({ kind: 'group', name: 'all', config: { channels: [theirs.integration.uuid] } }),
  })
  t.is(answer.status, 400)
})

test('an import cannot take over what belongs to another project', async (t) => {
  const [own, theirs] = [await someProject(), await someProject()]
  const before = await stored(theirs)
  for (const document of [
    { checks: [{ uuid: theirs.check.uuid, name: 'mine now' }] },
    { channels: [{ id: theirs.integration.uuid, kind: 'email', name: '', config: { value: 'a@example.org' } }] },
  ]) {
    const answer = await send(app.url, '/api/v3/import?apply=1', {
      method: 'POST',
      headers: { 'X-Api-Key': own.rwKey },
      body: JSON.stringify(document),
    })
    t.is(answer.status, 400)
    t.regex(answer.text, /id cannot be used/)
  }
  t.is(await stored(theirs), before)
})

test('members that a caller must not set are not changed', async (t) => {
  const own = await someProject()
  const forged = {
    uuid: '00000000-0000-4000-8000-000000000000',
    n_pings: 99,
    status: 'up',
    last_ping: '2024-01-01T00:00:00+00:00',
    project: 1,
    badge_key: 'x',
    started: true,
    __proto__: { polluted: true },
    constructor: { prototype: { polluted: true } },
  }
  const headers = { 'X-Api-Key': own.rwKey }
  const body = JSON.stringify(forged).replace('{', '{"__proto__":{"polluted":true},')
  const created = await send(app.url, '/api/v3/checks/', { method: 'POST', headers, body })
  t.like(jsonOf(created), { n_pings: 0, status: 'new', last_ping: null, started: false })
  t.false(created.text.includes(forged.uuid))
  const updated = await send(app.url, `/api/v3/checks/${own.check.uuid}`, { method: 'POST', headers, body })
  t.like(jsonOf(updated), { n_pings: 0, status: 'new', last_ping: null, started: false, uuid: own.check.uuid })
  t.is(Reflect.get({}, 'polluted'), undefined)
})

test('a check that was deleted in this organisation can be imported with its uuid', async (t) => {
  const own = await someProject()
  const headers = { 'X-Api-Key': own.rwKey }
  t.is((await send(app.url, `/api/v3/checks/${own.check.uuid}`, { method: 'DELETE', headers })).status, 200)
  const body = JSON.stringify({ checks: [{ uuid: own.check.uuid, name: 'again' }] })
  const answer = await send(app.url, '/api/v3/import?apply=1', { method: 'POST', headers, body })
  t.is(answer.status, 200)
  t.is((await send(app.url, `/ping/${own.check.uuid}`)).status, 200)
})

for (const [what, remove] of [
  ['a check', (own: Owned) => app.deps.db.transaction((tx) => deleteCheck(tx, own.check.id))],
  ['a project', (own: Owned) => app.deps.db.transaction((tx) => deleteProject(tx, own.project.id))],
] as const) {
  test(`the uuid of ${what} that was deleted stays reserved, and is refused like one in use`, async (t) => {
    const [own, theirs, gone] = [await someProject(), await someProject(), await someProject()]
    const importing = async (uuid: string, how: string) =>
      await send(app.url, `/api/v3/import?${how}=1`, {
        method: 'POST',
        headers: { 'X-Api-Key': own.rwKey },
        body: JSON.stringify({ checks: [{ uuid, name: 'mine now' }] }),
      })
    t.is((await send(app.url, `/ping/${gone.check.uuid}`)).status, 200)
    await remove(gone)
    for (const how of ['plan', 'apply']) {
      const [freed, used] = [await importing(gone.check.uuid, how), await importing(theirs.check.uuid, how)]
      t.is(freed.status, 400)
      t.is(freed.text, used.text)
    }
    // Pings to the old address reach no check: this process has dropped it from its cache.
    app.deps.announce({ kind: 'check', uuid: gone.check.uuid, projectId: gone.project.id })
    await eventually('the cached check to be removed', async () => {
      return (await send(app.url, `/ping/${gone.check.uuid}`)).status === 404
    })
    t.is((await importing(randomUUID(), 'apply')).status, 200)
  })
}
