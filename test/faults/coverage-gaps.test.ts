import { randomUUID } from 'node:crypto'
import test from 'ava'
import type { Knex } from 'knex'
import { addWebhook, notify } from '../support/alerts.ts'
import { eventually } from '../support/eventually.ts'
import { openHttpSink } from '../support/http-sink.ts'
import { openProduct, type Product } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { metricIn } from './fault-metrics.ts'
import { letPassWhileWaiting } from './let-pass.ts'

const EACH_MINUTE = { timeoutSeconds: 60, graceSeconds: 60 }

/** Sets checks to up with a last ping of this age and the resulting deadline. */
async function wereUp(db: Knex, ids: readonly number[], secondsAgo: number, deadlineAfter = 120): Promise<void> {
  await db.raw(
    `UPDATE checks SET status = 'up', n_pings = 1, last_ping = now() - make_interval(secs => ?),
       alert_after = now() - make_interval(secs => ?) WHERE id = ANY(?)`,
    [secondsAgo, secondsAgo - deadlineAfter, [...ids]],
  )
}

/** Stores heartbeats of a listener that ended. @param from seconds ago @param until seconds ago */
async function storeHeartbeats(
  db: Knex,
  kind: string,
  from: number,
  until: number,
  ended: string | null = null,
): Promise<void> {
  await db.raw(
    `INSERT INTO listener_heartbeats (instance, kind, span, shards, from_at, until_at, ended)
     VALUES (?, ?, 1, 3, now() - make_interval(secs => ?), now() - make_interval(secs => ?), ?)`,
    [randomUUID(), kind, from, until, ended],
  )
}

const openGaps = async ({ db }: Product) =>
  (await db('coverage_gaps').whereNull('until_at').whereNot({ kind: 'detection' })).length
const hasHeartbeat = async ({ db }: Product) =>
  (
    await db.raw(
      `SELECT 1 FROM listener_heartbeats WHERE kind = 'http' AND shards = -1 AND until_at > now() - interval '5 seconds'`,
    )
  ).rows.length > 0

test.serial('after a half-hour outage no false notification is sent, and dead checks go down later', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct()
  const { db } = product
  const project = await product.project()
  await storeHeartbeats(db, 'http', 7200, 1800)
  const { base, deps } = await product.ingress()
  const alive = await Promise.all(Array.from({ length: 20 }, () => addCheck(deps, project.id, EACH_MINUTE)))
  const dead = await Promise.all(Array.from({ length: 5 }, () => addCheck(deps, project.id, EACH_MINUTE)))
  const early = await addCheck(deps, project.id, EACH_MINUTE)
  const ids = (checks: readonly { id: number }[]) => checks.map(({ id }) => id)
  await wereUp(db, ids([...alive, ...dead]), 1830)
  await wereUp(db, [early.id], 1921)
  await db.raw(
    `UPDATE checks SET last_ping = t.until_at - interval '121 seconds', alert_after = t.until_at - interval '1 second'
     FROM (SELECT min(until_at) AS until_at FROM listener_heartbeats WHERE span IS NOT NULL) t WHERE id = ?`,
    [early.id],
  )
  await notify(db, [...alive, ...dead, early], [await addWebhook(deps, project.id, sink.url)])
  await eventually('a heartbeat of the listener', () => hasHeartbeat(product))
  await using workers = await product.workers()

  await eventually('all deadlines to be extended', async () => {
    const extended = await db('checks')
      .whereIn('id', ids([...alive, ...dead]))
      .whereNotNull('deadline_extended_at')
    return extended.length === 25
  })
  await eventually('the check with the earlier deadline to go down', async () => (await db('flips')).length === 1)
  const [gap] = await db('coverage_gaps').where({ listener: 'http' })
  t.like(gap, { kind: 'full', shards: -1 }, 'the gap covers every shard, also future ones')
  const flip = await db('flips').first()
  t.is(flip.check_id, early.id)
  t.true(
    gap.from_at.getTime() - flip.at.getTime() >= 1000 && gap.from_at.getTime() - flip.at.getTime() < 5000,
    'row 16',
  )
  const extended = await db('checks').where({ id: dead[0]?.id }).first()
  t.like(extended, { status: 'up', deadline_extended_at: gap.until_at })
  t.is(extended.alert_after.getTime() - gap.until_at.getTime(), 120_000, 'a period and grace later')
  const known = await db('unknown_periods')
  t.is(known.length, 25)
  t.deepEqual(
    new Set((await db('alert_decisions').where({ outcome: 'deadline_extended' })).map(({ reason }) => reason)),
    new Set(['GAP']),
  )

  for (const { uuid } of alive) t.is((await fetch(`${base}/ping/${uuid}`)).status, 200)
  await eventually('the live checks to be up again', async () => {
    const open = await db('unknown_periods').whereNull('until_at')
    return open.length === dead.length
  })
  t.is((await workers.metrics.checksDeadlineExtended.get()).values[0]?.value, 25)
  await eventually('the notifications of dead checks', async () => {
    await letPassWhileWaiting(db, ids(dead))
    return sink.requests.length === 6
  })
  const flips = await db('flips').orderBy('id')
  t.deepEqual(
    flips.map(({ check_id: id }) => id).sort((a, b) => a - b),
    ids([early, ...dead]).sort((a, b) => a - b),
  )
  const notified = sink.requests.map(({ body }) => body.toString()).sort()
  t.deepEqual(notified, [early, ...dead].map(({ uuid }) => uuid).sort(), 'no false alert')
})

test.serial('a stopped sweeper causes a detection gap, and flips have the time of the deadlines', async (t) => {
  await using product = await openProduct()
  const { db } = product
  const project = await product.project()
  const { deps } = await product.ingress()
  await storeHeartbeats(db, 'http', 7200, 0)
  await storeHeartbeats(db, 'sweeper', 7200, 600)
  const checks = await Promise.all([1, 2, 3].map(() => addCheck(deps, project.id, EACH_MINUTE)))
  await wereUp(
    db,
    checks.map(({ id }) => id),
    500,
  )
  const deadline = (await db('checks').first('alert_after')).alert_after
  await eventually('a heartbeat of the listener', () => hasHeartbeat(product))
  await product.workers()
  await eventually('all to go down', async () => (await db('flips').where({ to_status: 'down' })).length === 3)
  t.deepEqual(
    (await db('flips')).map(({ at }) => at),
    [deadline, deadline, deadline],
  )
  t.is((await db('unknown_periods')).length, 0)
  await eventually(
    'the detection gap to be found',
    async () => (await db('coverage_gaps').where({ listener: 'sweeper', kind: 'detection' })).length === 1,
  )
})

test.serial('refused pings extend the deadline of their check; another check goes down', async (t) => {
  await using product = await openProduct()
  const { db } = product
  const project = await product.project()
  const first = await product.ingress()
  let isFull = true
  const broker = Object.create(first.deps.broker, {
    publish: {
      value: (message: { type: string }) =>
        isFull && message.type === 'ping.batch'
          ? Promise.reject(new Error('the buffer is full'))
          : first.deps.broker.publish(Object.assign(message)),
    },
  })
  const { base, deps } = await product.ingress({ broker })
  const [refused, silent] = [
    await addCheck(deps, project.id, EACH_MINUTE),
    await addCheck(deps, project.id, EACH_MINUTE),
  ]
  await wereUp(db, [refused.id, silent.id], 60)
  t.true((await fetch(`${base}/ping/${refused.uuid}`)).status >= 500)
  await eventually('the refusal to be stored', async () => (await db('refused_pings')).length === 1)
  // The refused ping arrived a second before both deadlines.
  await db.raw(
    `UPDATE checks SET last_ping = r.at - interval '119 seconds', alert_after = r.at + interval '1 second'
     FROM (SELECT max(last_at) AS at FROM refused_pings) r WHERE checks.id = ANY(?)`,
    [[refused.id, silent.id]],
  )
  const { metrics } = await product.workers()
  await eventually(
    'the check without refused pings to go down',
    async () => (await db('flips').where({ check_id: silent.id })).length === 1,
  )
  const extended = await eventually(
    'the deadline of the other check to be extended',
    async () => (await db('unknown_periods').where({ check_id: refused.id }))[0],
  )
  t.is(extended.reason, 'REFUSED_PING')
  await eventually(
    'the ping to be counted',
    async () => metricIn(await metrics.registry.metrics(), 'signalbox_deadline_extensions_total') === 1,
  )
  t.is((await db('flips').where({ check_id: refused.id })).length, 0)
  t.is(await openGaps(product), 0, 'the listener can still accept pings')
  isFull = false
})

test.serial('a daily job expected in a gap has its deadline extended by a day', async (t) => {
  await using product = await openProduct()
  const { db } = product
  const project = await product.project()
  const { deps } = await product.ingress()
  const occurrence = new Date(Math.floor((Date.now() - 3_660_000) / 60_000) * 60_000)
  const seconds = (Date.now() - occurrence.getTime()) / 1000
  await storeHeartbeats(db, 'http', 90_000, seconds + 600)
  await storeHeartbeats(db, 'http', seconds - 1200, 0)
  const schedule = `${occurrence.getUTCMinutes()} ${occurrence.getUTCHours()} * * *`
  const daily = await addCheck(deps, project.id, { kind: 'cron', schedule, graceSeconds: 3600 })
  await wereUp(db, [daily.id], seconds + 86_400)
  await db.raw('UPDATE checks SET alert_after = ? WHERE id = ?', [new Date(occurrence.getTime() + 3_600_000), daily.id])
  await eventually('a heartbeat of the listener', () => hasHeartbeat(product))
  await product.workers()
  const extended = await eventually(
    'the deadline of the job to be extended',
    async () => (await db('checks').where({ id: daily.id }).whereNotNull('deadline_extended_at'))[0],
  )
  t.is(extended.status, 'up')
  t.is(extended.alert_after.getTime(), occurrence.getTime() + 3_600_000 + 86_400_000)
  t.is((await db('flips')).length, 0)
})
