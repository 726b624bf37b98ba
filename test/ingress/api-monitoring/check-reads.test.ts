import test from 'ava'
import { uniqueKey } from '#shared/monitoring/checks/slug.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

async function namesIn(path: string, key: string): Promise<unknown[]> {
  const answer = await send(app.url, path, { headers: { 'X-Api-Key': key } })
  return (jsonOf(answer) as { checks: { name: string }[] }).checks.map(({ name }) => name)
}

test('a list is in order of creation and matches all filters', async (t) => {
  const { project, rwKey } = await addProject(app.deps)
  await addCheck(app.deps, project.id, { name: 'a', slug: 's', tags: 'x y' })
  await addCheck(app.deps, project.id, { name: 'b', slug: 's', tags: 'x' })
  await addCheck(app.deps, project.id, { name: 'c', slug: '', tags: 'x,y  z' })
  for (const [query, expected] of [
    ['', ['a', 'b', 'c']],
    ['?slug=s', ['a', 'b']],
    ['?slug=S', []],
    ['?slug=', ['a', 'b', 'c']],
    ['?slug=nope&slug=s', ['a', 'b']],
    ['?tag=x', ['a', 'b']],
    ['?tag=x&tag=y', ['a']],
    ['?tag=z', ['c']],
    ['?tag=X', []],
    ['?tag=', []],
    ['?tag=x%20y', []],
    ['?tag=x&slug=s&unknown=1', ['a', 'b']],
    ['?tag[]=x', ['a', 'b', 'c']],
    ['?tag[a]=x', ['a', 'b', 'c']],
    [`?${'tag=x&'.repeat(2000)}`, ['a', 'b']],
  ] as const) {
    t.deepEqual(await namesIn(`/api/v3/checks/${query}`, rwKey), [...expected], query.slice(0, 40))
  }
})

test('a read-only key gets the reduced form and finds checks by unique_key', async (t) => {
  const { project, roKey, rwKey } = await addProject(app.deps)
  const check = await addCheck(app.deps, project.id, { name: 'a' })
  const path = `/api/v3/checks/${uniqueKey(check.uuid)}`
  const readOnly = jsonOf(await send(app.url, path, { headers: { 'X-Api-Key': roKey } })) as object
  t.like(readOnly, { name: 'a', unique_key: uniqueKey(check.uuid), timeout: 86400 })
  for (const field of ['uuid', 'ping_url', 'update_url', 'pause_url', 'resume_url', 'channels']) {
    t.false(field in readOnly, field)
  }
  const full = jsonOf(await send(app.url, path, { headers: { 'X-Api-Key': rwKey } })) as object
  t.like(full, { uuid: check.uuid })
  t.false('unique_key' in full)
})

test('a unique_key identifies a check of the project of the key, while it exists', async (t) => {
  const own = await addProject(app.deps)
  const other = await addProject(app.deps)
  const check = await addCheck(app.deps, own.project.id, { name: 'a' })
  const path = `/api/v3/checks/${uniqueKey(check.uuid)}`
  const statusFor = async (key: string, suffix = '') =>
    (await send(app.url, path + suffix, { headers: { 'X-Api-Key': key } })).status
  // Requested often, so that at least one answer comes from the cache.
  for (let i = 0; i < 3; i++) {
    t.is(await statusFor(own.roKey), 200)
    t.is(await statusFor(own.roKey, '/flips/'), 200)
    t.is(await statusFor(other.roKey), 404)
    t.is(await statusFor(other.rwKey, '/flips/'), 404)
  }
  await send(app.url, `/api/v3/checks/${check.uuid}`, { method: 'DELETE', headers: { 'X-Api-Key': own.rwKey } })
  t.is(await statusFor(own.roKey), 404)
  t.is(await statusFor(own.roKey, '/flips/'), 404)
})

test('every read after an answered ping includes it', async (t) => {
  const { project, rwKey } = await addProject(app.deps)
  const headers = { 'X-Api-Key': rwKey }
  const { uuid } = await addCheck(app.deps, project.id)
  for (let n = 1; n <= 20; n++) {
    t.is((await send(app.url, `/ping/${uuid}`)).text, 'OK')
    const paths = [`/api/v3/checks/${uuid}`, '/api/v3/checks/', `/api/v3/checks/${uuid}/pings/`] as const
    const answers = await Promise.all(paths.map((path) => send(app.url, path, { headers })))
    for (const answer of answers) t.is(answer.headers['x-signalbox-lag'], undefined)
    const [one, all, pings] = answers.map(jsonOf) as [
      { n_pings: number },
      { checks: { n_pings: number }[] },
      { pings: { n: number }[] },
    ]
    t.deepEqual([one.n_pings, all.checks[0]?.n_pings, pings.pings[0]?.n], [n, n, n])
  }
})

test('concurrent lists share one answer; a later one may contain more', async (t) => {
  const { project, rwKey, roKey } = await addProject(app.deps)
  await addCheck(app.deps, project.id, { name: 'a' })
  const lists = await Promise.all(Array.from({ length: 50 }, () => namesIn('/api/v3/checks/', rwKey)))
  for (const names of lists) t.deepEqual(names, ['a'])
  const first = namesIn('/api/v3/checks/', roKey)
  await addCheck(app.deps, project.id, { name: 'b' })
  const second = namesIn('/api/v3/checks/', roKey)
  t.true((await first).length >= 1)
  t.deepEqual(await second, ['a', 'b'])
})

test('without an evaluator a read still responds and reports that it may be stale', async (t) => {
  await using alone = await openProduct({ listener: 'http', workers: [] })
  const { project, rwKey } = await addProject(alone.deps)
  const { uuid } = await addCheck(alone.deps, project.id)
  const answer = await send(alone.url, `/api/v3/checks/${uuid}`, { headers: { 'X-Api-Key': rwKey } })
  t.is(answer.status, 200)
  t.true(Number(answer.headers['x-signalbox-lag']) >= 500)
})

for (const [method, path, status, location] of [
  ['GET', '/api/v3/checks?slug=a&tag=b', 301, '/api/v3/checks/?slug=a&tag=b'],
  ['POST', '/api/v3/checks', 301, '/api/v3/checks/'],
  ['GET', '/api/v1/channels', 301, '/api/v1/channels/'],
  ['GET', '/api/v3/badges', 301, '/api/v3/badges/'],
  ['POST', '/api/v3/status', 301, '/api/v3/status/'],
] as const) {
  test(`${method} ${path} is redirected to the path with its slash`, async (t) => {
    const answer = await send(app.url, path, { method })
    t.deepEqual([answer.status, answer.headers.location], [status, location])
  })
}

for (const [path, methods] of [
  ['/api/v3/checks/', ['GET', 'OPTIONS', 'POST']],
  ['/api/v3/checks/803f680d-e89b-492b-82ef-2be7b774a92d', ['DELETE', 'GET', 'OPTIONS', 'POST']],
  ['/api/v3/checks/124f983e0e3dcaeba921cfcef46efd084576e783', ['GET', 'OPTIONS']],
  ['/api/v3/checks/803f680d-e89b-492b-82ef-2be7b774a92d/pause', ['OPTIONS', 'POST']],
  ['/api/v2/badges/', ['GET', 'OPTIONS']],
  ['/badge/803f680d-e89b-492b-82ef-2be7b774a92d/abcdefgh/a.svg', ['GET', 'OPTIONS']],
] as const) {
  test(`a page of any origin may use ${path}, and other methods get 405 without Allow`, async (t) => {
    const preflight = await send(app.url, path, { method: 'OPTIONS' })
    t.deepEqual([preflight.status, preflight.text], [204, ''])
    t.is(preflight.headers['access-control-allow-origin'], '*')
    t.is(preflight.headers['access-control-allow-headers'], 'X-Api-Key')
    t.is(preflight.headers['access-control-max-age'], '600')
    t.deepEqual(String(preflight.headers['access-control-allow-methods']).split(', ').toSorted(), [...methods])
    const refused = await send(app.url, path, { method: 'PUT' })
    t.deepEqual([refused.status, refused.text, refused.headers.allow], [405, '', undefined])
    t.is(refused.headers['access-control-allow-origin'], '*')
  })
}

test('errors carry the CORS headers too', async (t) => {
  const { rwKey } = await addProject(app.deps)
  for (const [path, key] of [
    ['/api/v3/checks/', ''],
    ['/api/v3/checks/803f680d-e89b-492b-82ef-2be7b774a92d', rwKey],
  ] as const) {
    const answer = await send(app.url, path, { headers: { 'X-Api-Key': key } })
    t.true(answer.status >= 400)
    t.is(answer.headers['access-control-allow-origin'], '*')
  }
})

test('the status endpoint needs no key and answers every method without CORS', async (t) => {
  for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
    const answer = await send(app.url, '/api/v3/status/', { method, headers: { 'X-Api-Key': 'anything' } })
    t.deepEqual([answer.status, answer.text], [200, 'OK'], method)
    t.is(answer.headers['access-control-allow-origin'], undefined)
  }
  t.is((await send(app.url, '/api/v3/status/', { method: 'HEAD' })).status, 200)
})
