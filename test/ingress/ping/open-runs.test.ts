import { randomUUID } from 'node:crypto'
import test from 'ava'
import { query } from '#shared/platform/database/sql.ts'
import { openProduct } from '../../support/product.ts'
import { send } from '../../support/send.ts'
import { aPingedProject } from './listeners.ts'

const RUNS = 1_000
const AT_ONCE = 50
const KEPT = 100

test('a thousand unfinished runs leave one open run and a full log', async (t) => {
  await using app = await openProduct({ listener: 'http', env: { PING_LOG_LIMIT: String(KEPT) } })
  const { uuid, check, recorded, shown } = await aPingedProject(app)
  const start = async (rid: string) => (await send(app.url, `/ping/${uuid}/start?rid=${rid}`)).text
  for (let sent = 0; sent < RUNS; sent += AT_ONCE) {
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => start(randomUUID())))
    t.deepEqual(new Set(answers), new Set(['OK']))
  }
  const last = randomUUID()
  t.is(await start(last), 'OK')

  const pings = await recorded()
  t.is(pings.length, KEPT)
  t.deepEqual([pings[0]?.n, pings.at(-1)?.n], [RUNS + 1 - KEPT + 1, RUNS + 1])
  t.is(new Set(pings.map(({ rid }) => rid)).size, KEPT)
  t.like(await shown(), { started: true, n_pings: RUNS + 1 })
  const open = await query<{ rid: string }>(
    app.deps.db,
    'SELECT last_start_rid AS rid FROM checks WHERE id = ? AND last_start IS NOT NULL',
    [check.id],
  )
  t.deepEqual(open, [{ rid: last }])

  // None of the other runs is open: only the end of the last one closes.
  t.is((await send(app.url, `/ping/${uuid}?rid=${last}`)).text, 'OK')
  t.like(await shown(), { started: false, status: 'up' })
  t.is((await recorded()).length, KEPT)
})
