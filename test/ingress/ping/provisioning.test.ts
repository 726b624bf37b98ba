import test from 'ava'
import { effort } from '../../support/effort.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { addIntegration } from '../../support/projects.ts'
import { randomOf } from '../../support/random.ts'
import { send } from '../../support/send.ts'
import { aPingedProject, openAnotherListener } from './listeners.ts'

const resources = new AsyncDisposableStack()
let app: HttpProduct
let otherListener: string
test.before(async () => {
  app = resources.use(await openProduct({ listener: 'http', env: { PING_LOG_LIMIT: '1000' } }))
  otherListener = await openAnotherListener(resources, app)
})
test.after.always(async () => {
  await resources.disposeAsync()
})

test('create=1 makes a check with the defaults and every integration of the project, and logs its first ping', async (t) => {
  const { pingKey, project, checks } = await aPingedProject(app)
  const integrations = [
    await addIntegration(app.deps, project.id, 'ops'),
    await addIntegration(app.deps, project.id, 'dev'),
  ]
  const path = `/ping/${pingKey}/new-job?create=1`
  const created = await send(app.url, path)
  t.deepEqual([created.status, created.text, created.headers['ping-body-limit']], [201, 'Created', '10000'])
  const again = await send(app.url, path)
  t.deepEqual([again.status, again.text], [200, 'OK'])
  const check = (await checks()).find(({ slug }) => slug === 'new-job')
  t.like(check, {
    name: 'new-job',
    tags: '',
    desc: '',
    timeout: 86_400,
    grace: 3600,
    methods: '',
    manual_resume: false,
    status: 'up',
    n_pings: 2,
  })
  t.deepEqual(String(check?.channels).split(',').sort(), integrations.map(({ uuid }) => uuid).sort())
})

test('HEAD and POST create too, and the last of a repeated create counts', async (t) => {
  const { pingKey, checks } = await aPingedProject(app)
  const head = await send(app.url, `/ping/${pingKey}/by-head?create=0&create=1`, { method: 'HEAD' })
  t.deepEqual([head.status, head.text], [201, ''])
  t.is((await send(app.url, `/ping/${pingKey}/by-post?create=1`, { method: 'POST', body: 'x' })).status, 201)
  t.deepEqual(
    (await checks()).map(({ slug, n_pings }) => [slug, n_pings]),
    [
      ['job', 0],
      ['by-head', 1],
      ['by-post', 1],
    ],
  )
})

for (const [suffix, status, started] of [
  ['/start', 'new', true],
  ['/fail', 'down', false],
  ['/log', 'new', false],
  ['/0', 'up', false],
  ['/9', 'down', false],
] as const) {
  test(`a check made by ${suffix} is ${status}${started ? ' and started' : ''}`, async (t) => {
    const { pingKey, checks } = await aPingedProject(app)
    t.is((await send(app.url, `/ping/${pingKey}/made${suffix}?create=1`)).status, 201)
    t.like(
      (await checks()).find(({ slug }) => slug === 'made'),
      { status, started, n_pings: 1 },
    )
  })
}

for (const [what, path, text] of [
  ['a bad rid', 'made?create=1&rid=x', 'invalid uuid format'],
  ['an exit status above 255', 'made/256?create=1', 'invalid url format'],
] as const) {
  test(`${what} is refused, and the check was made all the same`, async (t) => {
    const { pingKey, checks } = await aPingedProject(app)
    const answer = await send(app.url, `/ping/${pingKey}/${path}`)
    t.deepEqual([answer.status, answer.text], [400, text])
    t.like(
      (await checks()).find(({ slug }) => slug === 'made'),
      { n_pings: 0, status: 'new' },
    )
  })
}

test('a check made through one listener is known at the other', async (t) => {
  const { pingKey } = await aPingedProject(app)
  t.is((await send(otherListener, `/ping/${pingKey}/late`)).status, 404)
  t.is((await send(app.url, `/ping/${pingKey}/late?create=1`)).status, 201)
  t.is((await send(otherListener, `/ping/${pingKey}/late?create=1`)).status, 200)
})

test('concurrent pings at two listeners create one check and are all logged', async (t) => {
  const { pingKey, checks } = await aPingedProject(app)
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, i) =>
      send(i % 2 === 0 ? app.url : otherListener, `/ping/${pingKey}/crowd?create=1`),
    ),
  )
  const statuses = answers.map(({ status }) => status).sort()
  t.deepEqual(statuses, [...Array.from({ length: 59 }, () => 200), 201])
  const made = (await checks()).filter(({ slug }) => slug === 'crowd')
  t.deepEqual(
    made.map(({ n_pings }) => n_pings),
    [60],
  )
})

test('a leaked ping key creates at most twice the limit of checks', async (t) => {
  const { pingKey, checks } = await aPingedProject(app, { checkLimit: 3 })
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      send(i % 2 === 0 ? app.url : otherListener, `/ping/${pingKey}/n${i}?create=1`),
    ),
  )
  const refused = answers.filter(({ status }) => status !== 201)
  t.is(answers.length - refused.length, 5)
  for (const answer of refused) t.deepEqual([answer.status, answer.text], [404, 'not found'])
  t.is((await checks()).length, 6)
  t.is((await send(app.url, `/ping/${pingKey}/job?create=1`)).status, 200)
})

test('refuses to create a check with a slug longer than 100 characters', async (t) => {
  const { pingKey, checks } = await aPingedProject(app)
  const long = 'a'.repeat(101)
  for (const method of ['GET', 'HEAD', 'POST'])
    for (const suffix of ['', '/start', '/fail', '/log', '/0', '/9'])
      for (const slug of [long, long.replaceAll('a', '%61'), 'a'.repeat(2_000)]) {
        const answer = await send(app.url, `/ping/${pingKey}/${slug}${suffix}?create=1`, { method })
        t.deepEqual([answer.status, answer.text], [400, method === 'HEAD' ? '' : 'invalid url format'], suffix)
      }
  t.is((await send(app.url, `/ping/${pingKey}/${long}`)).status, 404)
  t.is((await send(app.url, `/ping/${pingKey}/${'a'.repeat(100)}?create=1`)).status, 201)
  t.deepEqual(
    (await checks()).map(({ slug }) => slug.length),
    [3, 100],
  )
})

test('a project with checks made by pings can be imported again', async (t) => {
  const { pingKey, rwKey } = await aPingedProject(app)
  const values = {
    timeout: ['60', '0', '1e9', '31536001', 'x', ''],
    grace: ['60', '-1', '99999999999'],
    schedule: ['* * * * *', 'daily', `${'1,'.repeat(80)}1 * * * *`, 'x'],
    tz: ['Europe/Riga', 'No/Where', 'z'.repeat(200)],
    tags: ['a b', 't'.repeat(600), '<b>', '%00'],
    channels: ['*', 'unknown', '\u0000'],
    policy: ['3f3d4f1f-8a10-4a3e-9a53-a1f3c3c80e0c', 'x'],
  }
  for (let n = 0; n < effort(60, 300); n++) {
    const random = randomOf(42, n)
    const slug = Array.from({ length: 1 + random.int(130) }, () => random.pick([...'az09-_'])).join('')
    const requested = Object.entries(values).flatMap(([name, of]) =>
      random.oneIn(3) ? [`&${name}=${encodeURIComponent(random.pick<string>(of))}`] : [],
    )
    const suffix = random.pick(['', '/start', '/fail', '/log', '/7'])
    const method = random.pick(['GET', 'HEAD', 'POST'])
    const answer = await send(app.url, `/ping/${pingKey}/${slug}${suffix}?create=1${requested.join('')}`, { method })
    t.true([200, 201, 400].includes(answer.status), `${answer.status} for ${slug}`)
  }
  const headers = { 'X-Api-Key': rwKey }
  const exported = await send(app.url, '/api/v3/export', { headers })
  t.is(exported.status, 200)
  const plan = await send(app.url, '/api/v3/import?plan=1', { method: 'POST', headers, body: exported.text })
  t.is(plan.status, 200, plan.text)
})
