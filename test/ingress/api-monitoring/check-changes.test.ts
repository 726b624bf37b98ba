import test from 'ava'
import type { HttpProduct } from '../../support/product.ts'
import { addIntegration } from '../../support/projects.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { aProject, type View } from './owned-project.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

test('a new check has the published defaults and every field', async (t) => {
  const { post, viewOf, rwKey } = await aProject(app)
  const answer = await post('/checks/')
  t.is(answer.status, 201)
  t.is(answer.headers['content-type'], 'application/json')
  t.false(answer.text.includes(rwKey))
  const { uuid, badge_url, ...rest } = viewOf(answer)
  t.regex(String(badge_url), new RegExp(`^${app.url}/b/2/[0-9a-f-]{36}\\.svg$`))
  t.deepEqual(rest, {
    name: '',
    slug: '',
    tags: '',
    desc: '',
    grace: 3600,
    n_pings: 0,
    status: 'new',
    started: false,
    last_ping: null,
    next_ping: null,
    manual_resume: false,
    methods: '',
    subject: '',
    subject_fail: '',
    start_kw: '',
    success_kw: '',
    failure_kw: '',
    filter_subject: false,
    filter_body: false,
    filter_http_body: false,
    filter_default_fail: false,
    ping_url: `${app.url}/ping/${uuid}`,
    update_url: `${app.url}/api/v3/checks/${uuid}`,
    pause_url: `${app.url}/api/v3/checks/${uuid}/pause`,
    resume_url: `${app.url}/api/v3/checks/${uuid}/resume`,
    channels: '',
    timeout: 86400,
  })
})

for (const [what, body, expected] of [
  [
    'a schedule makes it a cron check',
    { schedule: '15 5 * * *', tz: 'Europe/Riga', timeout: 60 },
    { schedule: '15 5 * * *', tz: 'Europe/Riga' },
  ],
  [
    'a schedule of another form makes it an OnCalendar check',
    { schedule: 'Mon..Fri 09:00' },
    { schedule: 'Mon..Fri 09:00', tz: 'UTC' },
  ],
  [
    'an old zone name is stored as its present one',
    { schedule: '* * * * *', tz: 'Asia/Calcutta' },
    { tz: 'Asia/Kolkata' },
  ],
  [
    'the deprecated subject sets keywords and their filter',
    { subject: 'ok' },
    { success_kw: 'ok', filter_subject: true, subject: 'ok' },
  ],
  [
    'explicit keywords win over the deprecated ones',
    { subject: 'a', success_kw: 'b' },
    { success_kw: 'b', subject: 'b' },
  ],
  ['the name makes no slug', { name: 'My Job' }, { name: 'My Job', slug: '' }],
] as const) {
  test(`create: ${what}`, async (t) => {
    const { create, get } = await aProject(app)
    const created = await create(body)
    t.like(created, expected)
    t.deepEqual(await get(created.uuid), created)
  })
}

for (const version of [1, 2] as const) {
  test(`version ${version} makes the slug from the name, and links to itself`, async (t) => {
    const { create } = await aProject(app)
    t.like(await create({ name: 'My Jöb!' }, version), { slug: 'my-job' })
    const check = await create({ name: 'My Job', slug: 'own' }, version)
    t.like(check, { slug: 'own', update_url: `${app.url}/api/v${version}/checks/${check.uuid}` })
  })
}

test('only version 1 calls a running check started', async (t) => {
  const { create, ping, get } = await aProject(app)
  const { uuid } = await create()
  await ping(uuid, '/start')
  t.like(await get(uuid, 1), { status: 'started', started: true })
  t.like(await get(uuid, 2), { status: 'new', started: true })
  t.like(await get(uuid, 3), { status: 'new', started: true })
})

test('an update changes only the members that it contains', async (t) => {
  const { create, post, viewOf } = await aProject(app)
  const check = await create({ name: 'a', tags: 'x y', grace: 120, timeout: 600 })
  const answer = await post(`/checks/${check.uuid}`, { name: 'b' })
  t.is(answer.status, 200)
  t.deepEqual(viewOf(answer), { ...check, name: 'b' })
  t.deepEqual(viewOf(await post(`/checks/${check.uuid}`)), { ...check, name: 'b' })
})

test('switching the kind keeps the hidden values of the other kind', async (t) => {
  const { create, post, viewOf } = await aProject(app)
  const check = await create({ timeout: 600 })
  const update = async (body: object) => viewOf(await post(`/checks/${check.uuid}`, body))
  const cron = await update({ schedule: '* * * * *', tz: 'Europe/Riga' })
  t.false('timeout' in cron)
  const simple = await update({ timeout: 1200 })
  t.false('schedule' in simple || 'tz' in simple)
  t.like(await update({ schedule: '5 * * * *' }), { schedule: '5 * * * *', tz: 'Europe/Riga' })
})

test('a shorter timeout moves the deadline of a check that is up', async (t) => {
  const { create, post, ping, viewOf } = await aProject(app)
  const { uuid } = await create({ timeout: 3600 })
  await ping(uuid)
  const before = viewOf(await post(`/checks/${uuid}`))
  const after = viewOf(await post(`/checks/${uuid}`, { timeout: 60 }))
  const seconds = (view: View) => Date.parse(String(view.next_ping)) / 1000
  t.is(seconds(before) - seconds(after), 3540)
})

test('integrations are assigned by *, id and name, and removed by an empty text', async (t) => {
  const { create, post, viewOf, project } = await aProject(app)
  const a = await addIntegration(app.deps, project.id, 'a')
  const b = await addIntegration(app.deps, project.id, 'b c')
  const both = [a.uuid, b.uuid].toSorted().join(',')
  const check = await create({ channels: '*' })
  t.is(check.channels, both)
  const update = async (integrations: string) =>
    viewOf(await post(`/checks/${check.uuid}`, { channels: integrations })).channels
  t.is(await update('b c'), b.uuid)
  t.is(await update(`${a.uuid},b c,${a.uuid}`), both)
  t.is((await post(`/checks/${check.uuid}`, { channels: 'a,unknown', name: 'changed' })).status, 400)
  t.is(viewOf(await post(`/checks/${check.uuid}`)).name, '')
  t.is(await update(''), '')
})

for (const [what, existing, request, isMatch] of [
  ['the name', { name: 'a' }, { name: 'a', unique: ['name'] }, true],
  ['another name', { name: 'a' }, { name: 'A', unique: ['name'] }, false],
  ['the tags as they were sent', { tags: 'x  y' }, { tags: 'x  y', unique: ['tags'] }, true],
  ['tags in another order', { tags: 'x y' }, { tags: 'y x', unique: ['tags'] }, false],
  [
    'slug, timeout and grace',
    { slug: 's', timeout: 60, grace: 90 },
    { slug: 's', timeout: 60, grace: 90, unique: ['slug', 'timeout', 'grace'] },
    true,
  ],
  ['one field of two', { name: 'a', slug: 's' }, { name: 'a', slug: 't', unique: ['name', 'slug'] }, false],
  ['a field the request leaves out', { name: '' }, { unique: ['name'] }, false],
  ['nothing', { name: 'a' }, { name: 'a', unique: [] }, false],
] as const) {
  test(`unique by ${what} ${isMatch ? 'updates the check' : 'creates another'}`, async (t) => {
    const { create, post, viewOf } = await aProject(app)
    const check = await create(existing)
    const answer = await post('/checks/', { ...request, desc: 'new' })
    t.is(answer.status, isMatch ? 200 : 201)
    t.is(viewOf(answer).uuid === check.uuid, isMatch)
    t.is(viewOf(answer).desc, 'new')
  })
}

test('the oldest of several matches is updated', async (t) => {
  const { create, post, viewOf } = await aProject(app)
  const first = await create({ name: 'a' })
  await create({ name: 'a' })
  t.is(viewOf(await post('/checks/', { name: 'a', unique: ['name'] })).uuid, first.uuid)
})

test('fifty concurrent equal upserts create one check', async (t) => {
  const { post, list } = await aProject(app)
  const body = { name: 'one', unique: ['name'] }
  const answers = await Promise.all(Array.from({ length: 50 }, () => post('/checks/', body)))
  t.is(answers.filter((answer) => answer.status === 201).length, 1)
  t.is(answers.filter((answer) => answer.status === 200).length, 49)
  t.is((await list()).length, 1)
})

test('concurrent requests cannot exceed the limit of checks; an upsert still updates', async (t) => {
  const { project, post, list } = await aProject(app)
  await app.deps.db.raw('UPDATE projects SET check_limit = 3 WHERE id = ?', [project.id])
  const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => post('/checks/', { name: String(i) })))
  t.is(answers.filter((answer) => answer.status === 201).length, 3)
  t.deepEqual([...new Set(answers.filter((it) => it.status !== 201).map((it) => `${it.status}${it.text}`))], ['403'])
  const [existing] = await list()
  t.is((await post('/checks/', { name: existing?.name, unique: ['name'] })).status, 200)
})
