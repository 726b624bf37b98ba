import test from 'ava'
import type { AcceptedPing } from '#shared/contracts/ping-batch.ts'
import type { PingGeneration } from '#shared/contracts/ping-generations.ts'
import { createBarriers } from '#shared/platform/broker/barrier.ts'
import { ensureGenerations, liveGenerations } from '#shared/platform/database/ping-shards.ts'
import { type Micros, microsOfSeconds, nowMicros } from '#shared/time.ts'
import type { IngressDeps } from '../../ingress/deps.ts'
import { Batcher } from '../../ingress/ping-path/batcher.ts'
import type { WorkerDeps } from '../../workers/define-worker.ts'
import { overdueChecks } from '../../workers/sweeper/sweeps/overdue-checks.ts'
import { deleteRetiredQueues } from '../../workers/sweeper/sweeps/servers.ts'
import { adminOf } from '../support/admin.ts'
import { openBrokerProbe } from '../support/broker-probe.ts'
import { eventually } from '../support/eventually.ts'
import { openProduct, type Product } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'

/** Tests each protection of docs/adr/0007 separately; other-shards.test.ts tests all of them under load. */

const PERIOD = { timeoutSeconds: 60, graceSeconds: 60 }
/** Arrival of a ping after which a check of that period is due in two seconds. */
const almostLate = () => nowMicros() - microsOfSeconds(118)

/** Sends pings into a chosen generation, like a listener that knows no other. */
async function senderInto(
  deps: Pick<IngressDeps, 'broker' | 'metrics'>,
  first: Pick<PingGeneration, 'generation' | 'shards'>,
) {
  await eventually('the publishing channel to be open', () => deps.broker.publisherEpoch !== '')
  let into = first
  const batcher = new Batcher(deps.broker, {
    into: () => ({ ...into, opensAt: 0, isDrained: false }),
    metrics: deps.metrics,
    problems: () => [],
    mayAnswer: () => true,
  })
  return {
    switchTo: (next: typeof first) => {
      into = next
    },
    send: (checkId: number, receivedAt: Micros) =>
      new Promise<void>((resolve, reject) =>
        batcher.add(pingOf(checkId, receivedAt), (error) => (error ? reject(error) : resolve())),
      ),
  }
}

const tickOf = (deps: WorkerDeps) => ({
  deps,
  barriers: createBarriers(deps.broker, { generations: deps.installation.generations, metrics: deps.metrics }),
  now: nowMicros(),
})

/** Returns the seconds since the newest generation opened. */
async function secondsOpen({ db }: Product): Promise<number> {
  const { rows } = await db.raw(
    `SELECT extract(epoch FROM clock_timestamp() - opens_at)::float AS seconds FROM ping_generations
     ORDER BY generation DESC LIMIT 1`,
  )
  return rows[0].seconds
}

test.serial('the queues of a generation exist before any process reads its row', async (t) => {
  await using product = await openProduct()
  await ensureGenerations(product.db, 1)
  await using probe = await openBrokerProbe(product.config.amqpUrl)
  const admin = adminOf(product)
  t.is((await admin('shards', 'set', '--to', '65')).status, 2, 'a generation has at most 64 queues')
  t.is((await admin('shards', 'set', '--to', '2')).status, 0)
  for (const queue of ['pings.1.0', 'pings.1.1', 'pings.1.1.dead'])
    await t.notThrowsAsync(probe.channel.checkQueue(queue))
})

test.serial('while a former queue does not answer, later pings wait and no check goes down', async (t) => {
  await using product = await openProduct({ env: { PING_SHARDS: '2', PUBLISH_TIMEOUT_MS: '2000' } })
  const project = await product.project()
  const { deps } = await product.ingress()
  await using probe = await openBrokerProbe(product.config.amqpUrl)
  await eventually('the queue to exist', async () => (await deps.broker.inspect(['pings.1'])).has('pings.1'))
  // The first consumer of a queue is the only one: it keeps the messages and never answers.
  let requested = 0
  const opened = Promise.withResolvers<number>()
  await probe.channel.consume('pings.1', (message) => {
    if (message?.properties.replyTo === undefined) return
    requested++
    if (requested === 1) opened.resolve(secondsOpen(product))
  })
  await product.workers(['ping-evaluator'])
  t.is((await adminOf(product)('shards', 'set', '--to', '3')).status, 0)
  await eventually('the former queues to be queried three times', () => requested >= 3)
  t.true((await opened.promise) >= 3, 'the pings that listeners sent before it opened may take 2 s to settle')
  t.false((await liveGenerations(product.db))[0]?.isDrained, 'only one of two queues has answered')

  // As for a listener that learns of the change late: the former generation is drained, but still consumed.
  await product.db('ping_generations').where({ generation: 0 }).update({ drained_at: product.db.fn.now() })
  const checks = await Promise.all(Array.from({ length: 6 }, () => addCheck(deps, project.id, PERIOD)))
  const saved = checks.find(({ id }) => id % 2 === 1)
  const silent = checks.find(({ id }) => id % 2 === 0)
  if (!saved || !silent) throw new Error('no check of that queue')
  const follows = await senderInto(deps, { generation: 1, shards: 3 })
  const late = await senderInto(deps, { generation: 0, shards: 2 })
  for (const { id } of [saved, silent]) await follows.send(id, almostLate())
  await eventually('both to be up', async () => (await product.db('checks').where({ status: 'up' })).length === 2)
  await late.send(saved.id, nowMicros())
  const isOverdue = async () => {
    const { rows } = await product.db.raw(
      `SELECT count(*)::int AS count FROM checks WHERE status = 'up' AND alert_after < now() - interval '8 seconds'`,
    )
    return rows[0].count === 2
  }
  await eventually('both deadlines to pass', isOverdue)
  const sweeper = await product.workers(['sweeper'])
  await eventually('a sweep without an answer of any shard', async () => {
    return (await sweeper.metrics.unsweptShards.get()).values[0]?.value === 3
  })
  t.true((await deps.barrier.pass([saved.id])) > 0, 'a read of the check waits for the former queue too')
  t.true((await deps.barrier.pass('all')) > 0, 'a list waits for it too')
  t.true(await isOverdue(), 'no check went down')

  await probe.channel.close()
  const statusOf = async (id: number) => (await product.db('checks').where({ id }).first('status'))?.status
  await eventually('the check without a ping to be down', async () => (await statusOf(silent.id)) === 'down')
  t.like(await product.db('checks').where({ id: saved.id }).first('status', 'n_pings'), { status: 'up', n_pings: 2 })
  t.is((await product.db('flips').where({ check_id: saved.id, to_status: 'down' })).length, 0)
})

test.serial('a sweep uses a generation that is stored while it reads the heartbeats of the listeners', async (t) => {
  await using product = await openProduct({ env: { PING_SHARDS: '1', DATABASE_TIMEOUT_MS: '60000' } })
  const project = await product.project()
  const { deps } = await product.ingress()
  const worker = await product.workers(['ping-evaluator'])
  const check = await addCheck(deps, project.id, PERIOD)
  await (await senderInto(deps, { generation: 0, shards: 1 })).send(check.id, almostLate())
  await eventually('the check to be overdue', async () => {
    const { rows } = await product.db.raw(
      `SELECT FROM checks WHERE status = 'up' AND alert_after < now() - interval '8 seconds'`,
    )
    return rows.length === 1
  })

  const lock = await product.db.transaction()
  await lock.raw('LOCK TABLE listener_heartbeats IN ACCESS EXCLUSIVE MODE')
  const sweep = overdueChecks().run(tickOf(worker))
  await eventually('the sweep to wait', async () => {
    const { rows } = await product.db.raw(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
       AND query LIKE '%settles_within) AS settled FROM listener_heartbeats%'`,
    )
    return rows.length > 0
  })
  await adminOf(product)('shards', 'set', '--to', '2')
  await product.db('ping_generations').where({ generation: 1 }).update({ opens_at: product.db.fn.now() })
  await (await senderInto(deps, { generation: 1, shards: 2 })).send(check.id, nowMicros() - microsOfSeconds(60))
  await lock.commit()
  await sweep
  t.is((await product.db('flips').where({ to_status: 'down' })).length, 0, 'the ping is in the new queue')
})

test.serial(
  'a former generation is retired after its queue answered, and its queue is deleted when empty',
  async (t) => {
    await using product = await openProduct({ env: { PING_SHARDS: '1' } })
    const deps = await product.workers(['anchor'])
    await eventually('the first generation to be stored', async () => (await liveGenerations(product.db)).length === 1)
    await using probe = await openBrokerProbe(product.config.amqpUrl)
    t.is((await adminOf(product)('shards', 'set', '--to', '2')).status, 0)
    await product.db('ping_generations').update({
      opens_at: product.db.raw("opens_at - interval '26 hours'"),
      drained_at: product.db.raw('CASE generation WHEN 0 THEN now() END'),
    })
    const live = async () => (await liveGenerations(product.db)).map(({ generation }) => generation)
    const isThere = async (queue: string) => (await deps.broker.inspect([queue])).has(queue)
    const tick = tickOf(deps)
    const sweeps = deleteRetiredQueues()
    const sweep = async () => await sweeps.run(tick)
    await sweep()
    t.deepEqual(await live(), [0, 1], 'without a consumer, the content of the queue is unknown')

    const evaluator = await product.workers(['ping-evaluator'])
    await probe.put('pings.0.dead', Buffer.from('dead letter'))
    const answers = async () => (await tick.barriers.answering([0], 2_000)).size === 1
    await eventually('its queue to answer', answers)
    await sweep()
    t.deepEqual(await live(), [0, 1], 'the operator must handle the dead letter first')
    await probe.take('pings.0.dead', 1)
    await sweep()
    t.deepEqual(await live(), [0, 1], 'one report of an empty queue is not enough, because a broker may be late')
    await eventually('the generation to be retired', async () => {
      await sweep()
      return (await live()).length === 1
    })
    t.true(await isThere('pings.0'), 'a process that has not read the change may still use the queue')

    await evaluator[Symbol.asyncDispose]()
    await probe.put('pings.0', Buffer.from('late'))
    await product
      .db('ping_generations')
      .where({ generation: 0 })
      .update({ retired_at: product.db.raw("now() - interval '1 minute'") })
    await sweep()
    t.deepEqual(
      [await isThere('pings.0'), await isThere('pings.0.dead')],
      [true, false],
      'a queue with a message is not deleted',
    )
    await probe.channel.purgeQueue('pings.0')
    await sweep()
    t.true(await isThere('pings.0'), 'one report of an empty queue is not enough')
    await eventually('the queue to be deleted', async () => {
      await sweep()
      return !(await isThere('pings.0'))
    })
  },
)

test.serial('pings held by a listener during a shard change reach their former queue', async (t) => {
  await using product = await openProduct({ env: { PING_SHARDS: '1' } })
  const { deps } = await product.ingress()
  t.is((await adminOf(product)('shards', 'set', '--to', '2')).status, 0)
  await using probe = await openBrokerProbe(product.config.amqpUrl)
  const { send, switchTo } = await senderInto(deps, { generation: 0, shards: 1 })
  let settled = 0
  const sent = [send(1, nowMicros())]
  switchTo({ generation: 1, shards: 2 })
  sent.push(send(1, nowMicros()))
  for (const one of sent) {
    one.then(
      () => {
        settled += 1
      },
      () => {},
    )
  }
  await eventually('both to be answered', () => settled === 2)
  const batches: string[] = []
  for (const queue of ['pings.0', 'pings.1.1']) {
    await probe.channel.consume(queue, (message) => {
      if (message?.properties.type === 'ping.batch') batches.push(queue)
    })
  }
  await eventually('both to be in their queues', () => batches.length === 2)
  t.deepEqual(batches.toSorted(), ['pings.0', 'pings.1.1'])
})

function pingOf(checkId: number, receivedAt: Micros): AcceptedPing {
  return {
    ...{ checkId, receivedAt, kind: 'success', exitStatus: null, scheme: 'http', remoteAddr: null },
    ...{ method: 'GET', ua: '', rid: null, body: null },
  }
}
