import { randomUUID } from 'node:crypto'
import test from 'ava'
import { encodePingBatch, pingQueue, shardOf } from '#shared/contracts/ping-batch.ts'
import type { Check } from '#shared/monitoring/checks/check.ts'
import { query } from '#shared/platform/database/sql.ts'
import { nowMicros } from '#shared/time.ts'
import { addWebhook, notify } from '../support/alerts.ts'
import { openBrokerProbe } from '../support/broker-probe.ts'
import { effort } from '../support/effort.ts'
import { eventually } from '../support/eventually.ts'
import { openHttpSink } from '../support/http-sink.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { LONG_LOG } from './ledger.ts'

// `make backlog` runs this file with 200,000 messages; the suite with fewer.

const MESSAGES = Number(process.env.BACKLOG_MESSAGES ?? effort(1_000, 4_000))
/** Messages that are published before the test waits for their confirms. */
const CHUNK = 500
/** The last queue stays empty. The others share the messages, because a queue is limited to 200,000. */
const SHARDS = 3
/** Checks per queue, because the log of a check is limited to 100,000 pings. */
const CHECKS = 3
const DRAIN_MS = 600_000

test.serial('full ping queues drain completely and do not delay alerts of another queue', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct({ env: { PING_SHARDS: String(SHARDS), ...LONG_LOG } })
  const { db } = product
  const project = await product.project()
  const { base, deps } = await product.ingress()
  const made = await Promise.all(Array.from({ length: SHARDS * CHECKS }, () => addCheck(deps, project.id)))
  const shardOfCheck = ({ id }: Check) => shardOf(id, SHARDS)
  const [failing, silent] = made.filter((check) => shardOfCheck(check) === SHARDS - 1)
  const flooded = made.filter((check) => shardOfCheck(check) !== SHARDS - 1)
  if (!failing || !silent) throw new Error('there are checks of every queue')
  await notify(db, [failing, silent], [await addWebhook(deps, project.id, sink.url)])
  const ping = async ({ uuid }: Check, suffix = '') =>
    await eventually('a ping to be accepted', async () => (await fetch(`${base}/ping/${uuid}${suffix}`)).ok)

  await using probe = await openBrokerProbe(product.config.amqpUrl)
  const stream = randomUUID()
  for (let seq = 1; seq <= MESSAGES; seq++) {
    const check = flooded[seq % flooded.length] ?? failing
    const checkId = check.id
    const of = { checkId, kind: 'success', exitStatus: null, receivedAt: nowMicros(), scheme: 'http' } as const
    const from = { remoteAddr: null, method: 'GET', ua: '', rid: randomUUID(), body: null }
    const body = encodePingBatch({ stream, seq, pings: [{ ...of, ...from }] })
    probe.channel.sendToQueue(pingQueue(shardOfCheck(check)), body, { persistent: true })
    if (seq % CHUNK === 0) await probe.channel.waitForConfirms()
  }
  await probe.channel.waitForConfirms()
  for (const shard of [0, 1])
    await eventually(
      'half of the pings to wait in the queues',
      async () => (await probe.depth(pingQueue(shard))) >= MESSAGES / 2,
    )
  await ping(failing)
  await ping(silent)

  await product.workers(['ping-evaluator', 'sweeper', 'notifier'])
  const stored = async () => {
    const sql = 'SELECT count(*)::int AS pings, count(DISTINCT rid)::int AS rids FROM pings WHERE rid IS NOT NULL'
    const [row] = await query<{ pings: number; rids: number }>(db, sql)
    return row ?? { pings: 0, rids: 0 }
  }
  await eventually('the backlog to shrink', async () => (await stored()).pings > 0)
  const isUp = async ({ id }: Check) => (await db('checks').where({ id }).first('status'))?.status === 'up'
  await eventually('both to be up', async () => (await isUp(failing)) && (await isUp(silent)))
  // Sets a deadline that is over now, so that the test need not wait for one.
  const since = performance.now()
  await db('check_deadlines').where({ check_id: silent.id }).update({ next_check_at: new Date() })
  await db('checks')
    .where({ id: silent.id })
    .update({ last_ping: new Date(Date.now() - 7 * 86_400_000), alert_after: new Date() })
  await ping(failing, '/fail')
  await sink.waitFor(2)
  const alertedAfterMs = performance.now() - since
  const left = MESSAGES - (await stored()).pings
  t.log(`alerted after ${(alertedAfterMs / 1000).toFixed(1)} s, with ${left} of ${MESSAGES} messages left`)
  t.deepEqual(
    sink.requests.map(({ path, body }) => `${path} ${body}`).toSorted(),
    [failing, silent].map(({ uuid }) => `/down ${uuid}`).toSorted(),
  )
  await eventually('the backlog to drain', async () => (await stored()).pings >= MESSAGES, DRAIN_MS)
  t.deepEqual(await stored(), { pings: MESSAGES, rids: MESSAGES })
  for (const shard of [0, 1]) t.is(await probe.depth(`${pingQueue(shard)}.dead`), 0)
})
