import test from 'ava'
import { z } from 'zod'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { addKey } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'
import { addCheck, createTeam, join } from '../web/people.ts'

const listed = z.object({
  pings: z.array(z.object({ n: z.int(), type: z.string(), body_url: z.string().nullable() })),
})

async function failing(app: HttpProduct) {
  const team = await createTeam(app, 'Failing')
  const owner = await join(app, team, 'owner')
  const uuid = await addCheck(owner, team)
  const headers = { 'X-Api-Key': await addKey(app.deps, team.project.id, 'rw') }
  const read = (path: string) => send(app.url, `/api/v3/checks/${uuid}/${path}`, { headers })
  return {
    uuid,
    owner,
    read,
    ping: (end: string, body: string) => send(app.url, `/ping/${uuid}${end}`, { method: 'POST', body }),
    failures: async () => listed.parse(jsonOf(await read('pings/?failures=1'))).pings,
  }
}

test('keeps the last failures after successes have displaced them from the log', async (t) => {
  await using app = await openProduct({ listener: 'http' })
  const { uuid, owner, read, ping, failures } = await failing(app)
  for (let n = 1; n <= 25; n++) await ping('/fail', `failure ${n}`)
  for (let n = 0; n < 1_000; n += 50) await Promise.all(Array.from({ length: 50 }, () => ping('', 'fine')))
  const kept = await failures()
  t.deepEqual(
    kept.map(({ n }) => n),
    Array.from({ length: 20 }, (_, index) => 25 - index),
  )
  t.true(kept.every(({ type }) => type === 'fail'))
  t.is((await send(new URL(kept[0]?.body_url ?? '').origin, `/api/v3/checks/${uuid}/pings/25/body`)).status, 401)
  t.is((await read('pings/25/body')).text, 'failure 25')
  t.is((await read('pings/5/body')).status, 404)
  const log = listed.parse(jsonOf(await read('pings/'))).pings
  t.false(log.some(({ type }) => type === 'fail'))

  const page = (await owner.get(`/checks/${uuid}?log=failure`)).text
  t.regex(page, /Older failures[\s\S]*#25[\s\S]*#6/)
  t.false(page.includes('#5 '))
  t.true((await owner.get(`/checks/${uuid}/pings/25`)).text.includes('failure 25'))
  t.is((await owner.get(`/checks/${uuid}/pings/25/body`)).text, 'failure 25')
  t.is((await owner.get(`/checks/${uuid}/pings/5`)).status, 404)

  await owner.post(`/checks/${uuid}/delete`, {}, `/checks/${uuid}`)
  t.is((await app.deps.db('checks').where({ uuid })).length, 0)
  t.is((await app.deps.db('kept_failures')).length, 0)
})

test('keeps failures within the log, of one batch, and after the limit was lowered', async (t) => {
  await using app = await openProduct({ listener: 'http', env: { KEPT_FAILURES: '3', PING_LOG_LIMIT: '5' } })
  const { ping, failures, read } = await failing(app)
  await Promise.all(Array.from({ length: 9 }, (_, n) => ping('/fail', `failure ${n + 1}`)))
  const numbers = async () => (await failures()).map(({ n }) => n)
  t.deepEqual(await numbers(), [9, 8, 7])
  for (let n = 10; n <= 12; n++) await ping('/3', 'exit status')
  t.deepEqual(await numbers(), [12, 11, 10])
  await ping('', 'fine')
  t.deepEqual(await numbers(), [12, 11, 10])
  // Rows of a former limit, in slots that are not used any more.
  await app.deps.db.raw(`INSERT INTO kept_failures (check_id, slot, seq, n, at, scheme, method, ua, body)
    SELECT check_id, slot + 10, seq - 8, n - 8, at, scheme, method, ua, body FROM kept_failures`)
  t.deepEqual(await numbers(), [12, 11, 10])
  t.is((await read('pings/4/body')).status, 404)
  await ping('/fail', 'the last')
  t.deepEqual(await numbers(), [14, 12, 11])
  t.is((await read('pings/14/body')).text, 'the last')
})
