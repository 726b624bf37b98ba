import test from 'ava'
import { listProjectKeys, revokeProjectKey } from '#shared/monitoring/projects/store.ts'
import { eventually } from '../../support/eventually.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

const list = (headers: Record<string, string | string[]>) => send(app.url, '/api/v3/checks/', { headers })

test('the header of a key is case-insensitive, and no other place is accepted', async (t) => {
  const { rwKey } = await addProject(app.deps)
  t.is((await list({ 'x-api-key': rwKey })).status, 200)
  t.is((await send(app.url, `/api/v3/checks/?api_key=${rwKey}`)).status, 401)
  t.is((await list({ Authorization: `Bearer ${rwKey}` })).status, 401)
})

for (const [what, key] of [
  ['an empty key', ''],
  ['a short key', 'x'.repeat(31)],
  ['a long key', 'x'.repeat(33)],
  ['a very long key', 'x'.repeat(8000)],
] as const) {
  test(`${what} counts as a missing key`, async (t) => {
    const answer = await list({ 'X-Api-Key': key })
    t.deepEqual([answer.status, jsonOf(answer)], [401, { error: 'missing api key' }])
  })
}

test('a repeated key header is refused, even if both are valid', async (t) => {
  const { rwKey } = await addProject(app.deps)
  t.is((await list({ 'X-Api-Key': [rwKey, rwKey] })).status, 401)
})

test('a ping key is no API key', async (t) => {
  const { pingKey } = await addProject(app.deps)
  t.is((await list({ 'X-Api-Key': pingKey })).status, 401)
})

test('a key in the body is accepted, not stored, and overridden by the header', async (t) => {
  const { rwKey } = await addProject(app.deps)
  const create = (headers: Record<string, string>) =>
    send(app.url, '/api/v3/checks/', { method: 'POST', headers, body: JSON.stringify({ api_key: rwKey, name: 'a' }) })
  const created = await create({})
  t.is(created.status, 201)
  t.false(created.text.includes(rwKey))
  t.deepEqual(jsonOf(await create({ 'X-Api-Key': 'x'.repeat(32) })), { error: 'wrong api key' })
  t.deepEqual(jsonOf(await create({ 'X-Api-Key': '' })), { error: 'missing api key' })
})

for (const key of [null, true, 123, ['x'], { a: 1 }]) {
  test(`a body key of ${JSON.stringify(key)} does not break anything`, async (t) => {
    const answer = await send(app.url, '/api/v3/checks/', { method: 'POST', body: JSON.stringify({ api_key: key }) })
    t.is(answer.status, 401)
  })
}

test('within seconds a revoked key is refused like an unknown one', async (t) => {
  const { project, rwKey } = await addProject(app.deps)
  t.is((await list({ 'X-Api-Key': rwKey })).status, 200)
  const [key] = await listProjectKeys(app.deps.db, project.id)
  t.is(key?.prefix, rwKey.slice(0, 8))
  t.true(await revokeProjectKey(app.deps.db, project.id, key?.id ?? 0))
  const revokedAt = Date.now()
  const refused = await eventually('the revocation to be noticed', async () => {
    const requestedAt = Date.now()
    const answer = await list({ 'X-Api-Key': rwKey })
    if (answer.status === 401) return answer
    t.true(requestedAt - revokedAt < 5_000, 'later requests are refused, however long the response takes')
    return null
  })
  const unknown = await list({ 'X-Api-Key': `hcw_${'z'.repeat(28)}` })
  t.deepEqual(jsonOf(refused), jsonOf(unknown))
})

test('a database dump holds no key', async (t) => {
  const { project, rwKey, roKey } = await addProject(app.deps)
  const { rows } = await app.deps.db.raw('SELECT * FROM project_keys WHERE project_id = ?', [project.id])
  const dump = JSON.stringify(rows)
  for (const key of [rwKey, roKey]) t.false(dump.includes(key.slice(8)))
})

test('the last use of a key is stored', async (t) => {
  const { project, rwKey } = await addProject(app.deps)
  await list({ 'X-Api-Key': rwKey })
  const key = await eventually('the use to be stored', async () => {
    const keys = await listProjectKeys(app.deps.db, project.id)
    return keys.find((it) => it.kind === 'rw' && it.lastUsedAt !== null) ?? null
  })
  t.truthy(key)
})

test('a check of another project and a wrong key differ only in the status', async (t) => {
  const own = await addProject(app.deps)
  const other = await addProject(app.deps)
  const check = await addCheck(app.deps, other.project.id, { name: 'secret name' })
  const answer = await send(app.url, `/api/v3/checks/${check.uuid}`, { headers: { 'X-Api-Key': own.rwKey } })
  t.deepEqual([answer.status, answer.text], [403, ''])
})

test('responses to a key are kept out of shared caches, with errors and streams too', async (t) => {
  const { rwKey } = await addProject(app.deps)
  const paths = ['/checks/', '/badges/', '/channels/', '/export', '/checks/803f680d-e89b-492b-82ef-2be7b774a92d']
  for (const path of paths) {
    for (const key of [rwKey, 'x'.repeat(32)]) {
      const { headers } = await send(app.url, `/api/v3${path}`, { headers: { 'X-Api-Key': key } })
      t.deepEqual([headers['cache-control'], headers.vary], ['no-store', 'X-Api-Key'], path)
    }
  }
  t.is((await send(app.url, '/api/v3/status/')).headers.vary, undefined)
})
