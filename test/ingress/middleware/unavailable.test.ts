import test from 'ava'
import { openDatabase } from '#shared/platform/database/db.ts'
import { openProduct } from '../../support/product.ts'
import { jsonOf, send } from '../../support/send.ts'

/** Returns a pool for a server that does not exist. */
const nowhere = () => openDatabase({ url: 'postgres://x@127.0.0.1:1/x', name: 'test', poolSize: 1, timeoutMs: 300 })

test('without its database the API answers 503 with a retry time, and does not disclose the reason', async (t) => {
  const db = nowhere()
  t.teardown(() => db.destroy())
  await using app = await openProduct({ listener: 'http', workers: [], override: { db } })
  const answer = await send(app.url, '/api/v3/checks/', { headers: { 'X-Api-Key': 'x'.repeat(32) } })
  t.is(answer.status, 503)
  t.deepEqual(jsonOf(answer), { error: 'the database cannot serve now' })
  t.is(answer.headers['retry-after'], '5')
  t.is(answer.headers['access-control-allow-origin'], '*')
})

test('without its database a process is alive but not ready, and its status is 500', async (t) => {
  await using app = await openProduct({
    listener: 'http',
    workers: [],
    env: { DATABASE_URL: 'postgres://x@127.0.0.1:1/x', DATABASE_TIMEOUT_MS: '300' },
  })
  t.is((await send(app.url, '/livez')).status, 200)
  const ready = await send(app.url, '/readyz')
  t.deepEqual([ready.status, jsonOf(ready)], [503, { ready: false }])
  t.is((await send(app.url, '/api/v3/status/')).status, 500)
})
