import test from 'ava'
import { takeTokens } from '#shared/tenancy/rate-limits/store.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addKey, addProject } from '../../support/projects.ts'
import { type Answer, jsonOf, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct({ env: { API_RATE_LIMIT_PER_MINUTE: '10' } })
})

const list = (key: string, headers = {}) =>
  send(app.url, '/api/v3/channels/', { headers: { 'X-Api-Key': key, ...headers } })
const countOf = (answers: Answer[], status: number) => answers.filter((answer) => answer.status === status).length

test('a full bucket permits a minute of requests at once; more get 429 with Retry-After', async (t) => {
  const { rwKey } = await addProject(app.deps)
  const answers = await Promise.all(Array.from({ length: 30 }, () => list(rwKey)))
  // While thirty requests are answered a token or two may grow back.
  t.true(countOf(answers, 200) >= 10 && countOf(answers, 200) <= 13)
  t.is(countOf(answers, 200) + countOf(answers, 429), 30)
  const refused = answers.find((answer) => answer.status === 429)
  if (!refused) return t.fail()
  t.deepEqual(Object.keys(jsonOf(refused) as object), ['error'])
  t.true(Number(refused.headers['retry-after']) >= 1)
  t.is(refused.headers['ratelimit-limit'], '10')
  t.is(refused.headers['ratelimit-remaining'], '0')
  t.is(refused.headers['access-control-allow-origin'], '*')
})

test('a response reports the remaining requests', async (t) => {
  const { rwKey } = await addProject(app.deps)
  const { headers } = await list(rwKey)
  t.is(headers['ratelimit-limit'], '10')
  t.is(headers['ratelimit-remaining'], '9')
  t.is(headers['ratelimit-reset'], '5')
})

test('forged forwarding headers change nothing', async (t) => {
  const { rwKey } = await addProject(app.deps)
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      list(rwKey, { 'X-Forwarded-For': `10.0.0.${i}`, Forwarded: `for=10.0.0.${i}` }),
    ),
  )
  t.true(countOf(answers, 429) > 0)
})

test('many keys of one project share five times the limit', async (t) => {
  const { project } = await addProject(app.deps)
  const keys = await Promise.all(Array.from({ length: 10 }, () => addKey(app.deps, project.id, 'rw')))
  const answers = await Promise.all(keys.flatMap((key) => Array.from({ length: 9 }, () => list(key))))
  t.true(countOf(answers, 200) >= 50)
  t.true(countOf(answers, 429) > 0)
})

test('an exhausted key does not limit other keys', async (t) => {
  const { rwKey } = await addProject(app.deps)
  const other = await addProject(app.deps)
  await Promise.all(Array.from({ length: 20 }, () => list(rwKey)))
  t.is((await list(other.rwKey)).status, 200)
})

test('a wrong key is refused, and does not count for any limit', async (t) => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => list('x'.repeat(32))))
  t.is(countOf(answers, 401), 20)
})

test('a bucket refills by the clock of the database, up to its size', async (t) => {
  // Within a transaction the database's clock stands still.
  await app.deps.db.transaction(async (tx) => {
    const take = (wanted: number) => takeTokens(tx, [{ bucket: 'test', wanted, capacity: 100 }], 1 / 50)
    t.like((await take(30))[0], { granted: 30, left: 70 })
    t.is((await take(100))[0]?.granted, 70)
    await tx.raw(`UPDATE rate_limits SET tokens = 0, updated_at = now() - interval '10 seconds' WHERE bucket = 'test'`)
    t.is((await take(100))[0]?.granted, 20)
    await tx.raw(`UPDATE rate_limits SET updated_at = now() - interval '1 day' WHERE bucket = 'test'`)
    t.is((await take(500))[0]?.granted, 100)
    await tx.raw(`UPDATE rate_limits SET tokens = 5, updated_at = now() + interval '1 hour' WHERE bucket = 'test'`)
    t.is((await take(9))[0]?.granted, 5)
  })
})

test('buckets are locked in one order, so that concurrent requests cannot deadlock', async (t) => {
  const buckets = ['a', 'b', 'c', 'd'].map((bucket) => ({ bucket: `crowd-${bucket}`, wanted: 1, capacity: 1000 }))
  const orders = Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? buckets : buckets.toReversed()))
  await t.notThrowsAsync(Promise.all(orders.map((order) => takeTokens(app.deps.db, order, 0))))
  const [left] = await takeTokens(app.deps.db, [{ bucket: 'crowd-a', wanted: 0, capacity: 1000 }], 0)
  t.is(left?.left, 960)
})
