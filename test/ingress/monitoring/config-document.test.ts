import test from 'ava'
import type { ConfigDocument, ImportReport } from '#shared/monitoring/projects/config-document.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addChannel, addCheck, addProject } from '../../support/projects.ts'
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
  return {
    ...owner,
    post,
    exported: async () => jsonOf(await send(app.url, '/api/v3/export', { headers })) as ConfigDocument,
    plan: async (document: unknown) => jsonOf(await post('import?plan=1', document)) as ImportReport,
    apply: async (document: unknown) => jsonOf(await post('import?apply=1', document)) as ImportReport,
    list: async () => jsonOf(await send(app.url, '/api/v3/checks/', { headers })) as { checks: { uuid: string }[] },
  }
}

const nothing = { create: [], update: [] }

async function filledProject() {
  const project = await aProject()
  const channel = await addChannel(app.deps, project.project.id, 'ops')
  await addCheck(app.deps, project.project.id, { name: 'a', tags: 'x y', methods: 'POST', failureKw: 'bad' })
  const body = { name: 'b', schedule: '15 5 * * *', tz: 'Europe/Riga', channels: channel.uuid }
  await project.post('checks/', body)
  return { ...project, channel }
}

test('a document applied where it came from changes nothing', async (t) => {
  const { exported, plan, apply } = await filledProject()
  const document = await exported()
  t.is(document.checks.length, 2)
  for (const report of [await plan(document), await apply(document)]) {
    t.like(report.checks, { ...nothing, unchanged: 2 })
    t.like(report.channels, { ...nothing, unchanged: 1 })
  }
  t.deepEqual(await exported(), document)
})

test('a plan says what would change, and changes nothing; applying does it once', async (t) => {
  const { exported, plan, apply } = await filledProject()
  const document = await exported()
  const [check] = document.checks
  const wanted = {
    ...document,
    checks: [
      { ...check, name: 'renamed', timeout: 120, channels: '' },
      { uuid: '5a0f2d4e-6f44-4a39-8d2a-7f9a3d2f1c10', name: 'new', timeout: 300 },
    ],
  }
  const planned = await plan(wanted)
  t.false(planned.applied)
  t.deepEqual(planned.checks.create, [{ id: '5a0f2d4e-6f44-4a39-8d2a-7f9a3d2f1c10', name: 'new' }])
  t.deepEqual(planned.checks.update[0]?.changes, {
    name: { from: 'a', to: 'renamed' },
    timeoutSeconds: { from: 86400, to: 120 },
  })
  t.deepEqual(await exported(), document)
  const applied = await apply(wanted)
  t.deepEqual(applied.checks, planned.checks)
  t.is((await exported()).checks.length, 3)
  t.like((await apply(wanted)).checks, { ...nothing, unchanged: 2 })
})

test('checks move from another service with this API, identities kept, by the list it answers', async (t) => {
  const from = await filledProject()
  const list = await from.list()
  // Gone without being deleted, which would retire their uuids: they were never here.
  await app.deps
    .db('checks')
    .whereIn(
      'uuid',
      list.checks.map(({ uuid }) => uuid),
    )
    .del()
  const to = await aProject()
  const report = await to.apply(list)
  t.is(report.checks.create.length, 2)
  t.deepEqual(report.unknownChannels, [from.channel.uuid])
  t.deepEqual(
    (await to.list()).checks.map(({ uuid }) => uuid),
    list.checks.map(({ uuid }) => uuid),
  )
  t.like((await to.apply(list)).checks, nothing)
  t.is((await send(app.url, `/ping/${list.checks[0]?.uuid}`, { method: 'POST' })).text, 'OK')
})

test('an export holds no secret, and an import keeps the stored one', async (t) => {
  const { post, exported, apply, project } = await aProject()
  const config = { url: 'http://hooks.example/', headers_up: { Authorization: 'token-of-ours' } }
  await post('channels/', { kind: 'webhook', name: 'hook', config })
  const document = await exported()
  t.false(JSON.stringify(document).includes('token-of-ours'))
  const [channel] = document.channels
  await apply({ channels: [{ ...channel, name: 'renamed' }] })
  const { rows } = await app.deps.db.raw('SELECT name, sealed_config FROM channels WHERE project_id = ?', [project.id])
  t.is(rows[0].name, 'renamed')
  t.true(app.deps.secrets.open('integration', rows[0].sealed_config).includes('token-of-ours'))
})

test('one wrong entry refuses the whole document, and says which it is', async (t) => {
  const { post, list } = await aProject()
  const good = { uuid: '5a0f2d4e-6f44-4a39-8d2a-7f9a3d2f1c11', name: 'good' }
  for (const [entry, error] of [
    [
      { uuid: '5a0f2d4e-6f44-4a39-8d2a-7f9a3d2f1c12', timeout: 1 },
      'checks[1]: json validation error: timeout is too small',
    ],
    [{ name: 'x', unique_key: 'y' }, 'checks[1]: uuid is not a uuid; export with the read-write key'],
    [{ uuid: good.uuid.toUpperCase() }, 'checks[1]: uuid is not a uuid; export with the read-write key'],
  ] as const) {
    const answer = await post('import?apply=1', { checks: [good, entry] })
    t.deepEqual([answer.status, jsonOf(answer)], [400, { error }])
  }
  t.deepEqual((await list()).checks, [])
})

for (const [what, path, document] of [
  ['neither plan nor apply', 'import', {}],
  ['both', 'import?plan=1&apply=1', {}],
  ['a version of the future', 'import?plan=1', { version: 2 }],
  ['a list that is none', 'import?plan=1', { checks: {} }],
  ['entries that are none', 'import?plan=1', { checks: [1] }],
] as const) {
  test(`an import with ${what} is refused`, async (t) => {
    const { post } = await aProject()
    t.is((await post(path, document)).status, 400)
  })
}

test('a document that holds neither checks nor integrations is refused, an empty list of either is not', async (t) => {
  const { post } = await aProject()
  for (const document of [{}, { version: 1 }, { version: 1, projects: [] }]) {
    const answer = await post('import?apply=1', document)
    t.deepEqual([answer.status, jsonOf(answer)], [400, { error: 'the document holds neither checks nor channels' }])
  }
  for (const document of [{ checks: [] }, { channels: [] }]) t.is((await post('import?plan=1', document)).status, 200)
})

test('an import cannot go beyond the limit of checks', async (t) => {
  const { project, post, list } = await aProject()
  await app.deps.db.raw('UPDATE projects SET check_limit = 1 WHERE id = ?', [project.id])
  const checks = ['5a0f2d4e-6f44-4a39-8d2a-7f9a3d2f1c21', '5a0f2d4e-6f44-4a39-8d2a-7f9a3d2f1c22'].map((uuid) => ({
    uuid,
  }))
  for (const verb of ['plan', 'apply']) t.is((await post(`import?${verb}=1`, { checks })).status, 403)
  t.deepEqual((await list()).checks, [])
})
