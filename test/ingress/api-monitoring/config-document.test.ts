import test from 'ava'
import type { ConfigDocument, ImportReport } from '#shared/monitoring/projects/config-document.ts'
import { effort } from '../../support/effort.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addCheck, addIntegration, addProject } from '../../support/projects.ts'
import { randomOf } from '../../support/random.ts'
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

/** No project has more policies. */
const CASES = effort(20, 50)

const nothing = { create: [], update: [] }

async function filledProject() {
  const project = await aProject()
  const integration = await addIntegration(app.deps, project.project.id, 'ops')
  await addCheck(app.deps, project.project.id, { name: 'a', tags: 'x y', methods: 'POST', failureKw: 'bad' })
  const body = { name: 'b', schedule: '15 5 * * *', tz: 'Europe/Riga', channels: integration.uuid }
  await project.post('checks/', body)
  return { ...project, integration }
}

test('a document changes nothing in its own project', async (t) => {
  const { exported, plan, apply } = await filledProject()
  const document = await exported()
  t.is(document.checks.length, 2)
  for (const report of [await plan(document), await apply(document)]) {
    t.like(report.checks, { ...nothing, unchanged: 2 })
    t.like(report.channels, { ...nothing, unchanged: 1 })
  }
  t.deepEqual(await exported(), document)
})

test('a plan lists the changes without making them; applying makes them once', async (t) => {
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

test('checks are imported with their identities from the list of a compatible service', async (t) => {
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
  t.deepEqual(report.unknownIntegrations, [from.integration.uuid])
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
  const [integration] = document.channels
  await apply({ channels: [{ ...integration, name: 'renamed' }] })
  const { rows } = await app.deps.db.raw('SELECT name, sealed_config FROM integrations WHERE project_id = ?', [
    project.id,
  ])
  t.is(rows[0].name, 'renamed')
  t.true(app.deps.secrets.open('integration', rows[0].sealed_config).includes('token-of-ours'))
})

test('an invalid entry refuses the whole document with its name', async (t) => {
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
  ['a list of another type', 'import?plan=1', { checks: {} }],
  ['entries of another type', 'import?plan=1', { checks: [1] }],
] as const) {
  test(`an import with ${what} is refused`, async (t) => {
    const { post } = await aProject()
    t.is((await post(path, document)).status, 400)
  })
}

test('a document must contain checks or integrations; an empty list is enough', async (t) => {
  const { post } = await aProject()
  for (const document of [{}, { version: 1 }, { version: 1, projects: [] }]) {
    const answer = await post('import?apply=1', document)
    t.deepEqual(
      [answer.status, jsonOf(answer)],
      [400, { error: 'the document must contain checks, channels, schedules, policies or windows' }],
    )
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

test('an export with values at every limit is imported without a change', async (t) => {
  const { post, exported, plan } = await aProject()
  const emoji = '🜁'
  const made = async (path: string, body: unknown) => {
    const answer = await post(path, body)
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${answer.text}`)
    return jsonOf(answer) as { uuid: string }
  }
  const hours = Array.from({ length: 7 }, (_, day) => ({ every: `0 ${day} * * *`, for: 2_592_000, tz: 'Asia/Kolkata' }))
  const step = { wait: 604_800, severity: 'critical', repeat: { every: 604_800, times: 1000 }, hours, outside: 'skip' }
  for (const letter of ['a', 'b']) await made('channels/', emailNamed(letter.repeat(100)))
  for (let n = 0; n < CASES; n++) {
    const random = randomOf(7, n)
    const some = (fields: Record<string, readonly unknown[]>) =>
      Object.fromEntries(
        Object.entries(fields).flatMap(([name, of]) => (random.oneIn(2) ? [[name, random.pick(of)]] : [])),
      )
    const keywords = ['', 'k'.repeat(200), ',,', '",\\'.repeat(50)]
    const { uuid } = await made('checks/', {
      name: `${n}`,
      ...some({
        name: ['', emoji.repeat(100), '<&"\\\n'.repeat(20), ' '.repeat(100)],
        slug: ['', '-'.repeat(100), `${n}_`.repeat(20)],
        tags: ['', 't'.repeat(500), 'a '.repeat(250), ' b  c '],
        desc: ['', `${emoji}\n`.repeat(5_000)],
        timeout: [60, 31_536_000],
        grace: [60, 31_536_000],
        methods: ['', 'POST'],
        channels: ['*', 'b'.repeat(100), `${'a'.repeat(100)},${'b'.repeat(100)}`],
        ...Object.fromEntries(['start_kw', 'success_kw', 'failure_kw'].map((name) => [name, keywords])),
        ...Object.fromEntries(
          ['manual_resume', 'filter_subject', 'filter_body', 'filter_http_body', 'filter_default_fail'].map((name) => [
            name,
            [true, false],
          ]),
        ),
      }),
      ...(random.oneIn(2) && { schedule: random.pick([`${' '.repeat(91)}* * * * *`, 'Mon..Fri 09:00', '0 0 29 2 *']) }),
      ...(random.oneIn(2) && { tz: random.pick(['America/Argentina/Buenos_Aires', 'Europe/Kyiv', 'UTC']) }),
      rules: some({
        severity: ['info', 'critical'],
        run: [{ watch: 'each', max: 31_536_000, alive: 86_400, slow: 20, open: 100, fail_on: ['SLOW', 'OVERRUN'] }, {}],
        sources: [
          { by: 'query', expect: Array.from({ length: 100 }, (_, at) => `${at}`.padEnd(64, 'x')), need: 'all' },
          { by: 'address', expect: 100, need: 100 },
        ],
        previews: ['ignore'],
        ping_auth: [{ mode: 'hmac' }],
      }),
    })
    const match = random.pick(['*', 't'.repeat(500), ' a  b '])
    const policy = { name: emoji.repeat(100), match, position: random.pick([0, 1000]), steps: Array(10).fill(step) }
    await made('policies/', {
      ...policy,
      ...some({
        when: [{ failures: 20, of: 20, down_for: 604_800, successes: 20 }],
        group: [{ checks: 10_000, within: 600 }],
        flapping: [{ changes: 50, within: 86_400 }],
        ack_timeout: [604_800],
      }),
    })
    const time = random.pick([{ for: 2_592_000 }, { every: '0 0 * * *', for: 2_592_000, tz: 'Asia/Kolkata' }])
    await made('windows/', { name: emoji.repeat(100), match, checks: [uuid], ...time, uptime: 'exclude', shown: true })
  }
  const report = await plan(await exported())
  for (const list of [report.checks, report.channels, report.policies, report.windows]) t.like(list, nothing)
  t.is(report.checks.unchanged, CASES)
  t.deepEqual(report.unknownIntegrations, [])
})

const emailNamed = (name: string) => ({ kind: 'email', name, config: { value: `${'a'.repeat(64)}@example.org` } })
