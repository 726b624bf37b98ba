import test from 'ava'
import type { AcceptedPing } from '#shared/contracts/ping-batch.ts'
import { openGeneration, queuesOf } from '#shared/contracts/ping-generations.ts'
import { UnavailableError } from '#shared/errors.ts'
import { DEFAULT_SETTINGS } from '#shared/monitoring/checks/settings.ts'
import { insertCheck } from '#shared/monitoring/checks/store.ts'
import type { Broker } from '#shared/platform/broker/broker.ts'
import { openQueueWatch } from '#shared/platform/broker/queue-watch.ts'
import { openDatabase } from '#shared/platform/database/db.ts'
import { openInstallation } from '#shared/platform/database/installation.ts'
import { KNOWS_FOR_MS, liveGenerations } from '#shared/platform/database/ping-shards.ts'
import { createLog } from '#shared/platform/process/log.ts'
import { Batcher } from '../../ingress/ping-path/batcher.ts'
import { adminOf } from '../support/admin.ts'
import { openBrokerProbe } from '../support/broker-probe.ts'
import { eventually } from '../support/eventually.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { auditPings, Ledger, LONG_LOG, STEADILY, sendPings } from './ledger.ts'

test.serial('a change from one queue to four and then two loses and repeats no ping', async (t) => {
  await using product = await openProduct({ env: { PING_SHARDS: '1', ...LONG_LOG } })
  const admin = adminOf(product)
  const project = await product.project()
  const listeners = [await product.ingress(), await product.ingress({}, { PING_SHARDS: '8' })]
  const [first] = listeners
  if (!first) throw new Error('no ingress')
  // The checks are overdue within seconds, so that a sweep of the wrong queue would bring them down.
  const checks = await Promise.all(
    Array.from({ length: 9 }, () =>
      insertCheck(product.db, project.id, { ...DEFAULT_SETTINGS, timeoutSeconds: 2, graceSeconds: 2 }),
    ),
  )
  for (const _ of [1, 2]) product.spawn('workers', ['ping-evaluator'], { PING_SHARDS: '4' })
  await product.workers(['sweeper'])
  let isOver = false
  let endedAt = new Date()
  const ledgers = listeners.map(() => new Ledger())
  const loads = listeners.map(({ base }, index) => {
    const ledger = ledgers[index] ?? new Ledger()
    const targets = checks.map(({ uuid }) => uuid)
    const more = () => !isOver && ledger.entries.size < 40_000
    return sendPings({ base: () => base, checks: targets, connections: 2, ledger, more, ...STEADILY })
  })
  try {
    for (const [to, generation] of [
      [4, 1],
      [2, 2],
    ] as const) {
      const done = await admin('shards', 'set', '--to', String(to))
      t.is(done.status, 0, done.stderr)
      t.is((await admin('shards', 'set', '--to', '7')).status, 1, 'one change at a time')
      await eventually(
        'the former queues to be empty',
        async () => (await liveGenerations(product.db)).every((one) => one.isDrained || one.generation === generation),
        60_000,
      )
      const before = ledgers.map((ledger) => ledger.count('accepted'))
      await eventually('more pings to be accepted by both listeners', () =>
        ledgers.every((ledger, index) => ledger.count('accepted') > (before[index] ?? 0) + 200),
      )
      const numbers = queuesOf({ generation, shards: to })
      await eventually('pings of every new queue to be applied', async () => {
        const streams = await product.db('ping_streams').whereIn('shard', numbers).distinct('shard')
        return streams.length === to
      })
    }
  } finally {
    endedAt = new Date()
    isOver = true
    await Promise.all(loads)
  }
  const sent = new Ledger()
  for (const ledger of ledgers) sent.include(ledger)
  t.is(sent.count('accepted'), sent.entries.size, 'no ping was refused')
  t.deepEqual(await auditPings(product, sent), [])
  // A check without further pings goes down soon; its flip has the time of its deadline.
  t.is((await product.db('flips').where({ to_status: 'down' }).where('at', '<', endedAt)).length, 0)
})

test.serial(
  'pings that an outdated listener sends to a former queue count; queues without senders are deleted',
  async (t) => {
    await using product = await openProduct({ env: { PING_SHARDS: '1' } })
    const admin = adminOf(product)
    const project = await product.project()
    const { deps } = await product.ingress()
    const check = await addCheck(deps, project.id)
    await product.workers(['ping-evaluator', 'sweeper'])
    t.is((await admin('shards', 'set', '--to', '2')).status, 0)
    await eventually(
      'the former queue to be empty',
      async () => (await liveGenerations(product.db))[0]?.isDrained,
      60_000,
    )

    let generation = 0
    const deaf = new Batcher(deps.broker, {
      into: () => ({ generation, shards: generation + 1, opensAt: 0, isDrained: false }),
      metrics: deps.metrics,
      problems: () => [],
      mayAnswer: () => true,
    })
    const ping = () =>
      new Promise<void>((resolve, reject) =>
        deaf.add(pingOf(check.id, deps.now()), (error) => (error ? reject(error) : resolve())),
      )
    const counted = async () => {
      await eventually('a read to wait for all queues', async () => (await deps.barrier.pass([check.id])) === 0)
      return (await product.db('pings').where({ check_id: check.id })).length
    }
    await ping()
    t.is(await counted(), 1, 'a former queue counts')
    // The listener learns of the change, and its clock is reset before it.
    for (generation of [1, 0, 1, 0]) await ping()
    t.is(await counted(), 5, 'no position of a stream is used twice')

    await product.db('ping_generations').update({ opens_at: product.db.raw("opens_at - interval '26 hours'") })
    await using probe = await openBrokerProbe(product.config.amqpUrl)
    await eventually(
      'the former generation to be retired',
      async () => (await liveGenerations(product.db)).length === 1,
      60_000,
    )
    await eventually('its queue to have no consumer', async () => (await probe.consumers('pings.0')) === 0)
    await product
      .db('ping_generations')
      .where({ generation: 0 })
      .update({ retired_at: product.db.raw("now() - interval '1 minute'") })
    await eventually('its queues to be deleted', async () => !(await isThere(deps.broker, 'pings.0')))
    t.regex((await admin('shards', 'show')).stdout, /^2 in use\ngeneration 1: 2, accepts pings\npings\.1\.0/)
  },
)

test.serial('a listener without the database for a day refuses pings, because its queues may be deleted', async (t) => {
  await using product = await openProduct({ env: { PING_SHARDS: '1' } })
  const project = await product.project()
  const { deps } = await product.ingress()
  const check = await addCheck(deps, project.id)
  const db = openDatabase({ url: product.config.databaseUrl, name: 'lost', poolSize: 1, timeoutMs: 5_000 })
  let aheadMs = 0
  await using installation = openInstallation(db, 1, createLog('silent', 'test'), () => Date.now() + aheadMs)
  await installation.firstCheck()
  await db.destroy()
  const cutOff = new Batcher(deps.broker, {
    into: () => openGeneration(installation.generations(), deps.now()),
    metrics: deps.metrics,
    problems: () => installation.problems(),
    mayAnswer: () => true,
  })
  const ping = () =>
    new Promise<void>((resolve, reject) =>
      cutOff.add(pingOf(check.id, deps.now()), (error) => (error ? reject(error) : resolve())),
    )
  aheadMs = KNOWS_FOR_MS - 60_000
  await t.notThrowsAsync(ping())
  aheadMs = KNOWS_FOR_MS + 1_000
  await t.throwsAsync(ping(), { instanceOf: UnavailableError, message: /cannot accept pings now/ })
  t.true(installation.problems().includes('database: ping queues were not read for a day'))
})

test.serial('readiness names a queue without a consumer', async (t) => {
  await using product = await openProduct({ env: { PING_SHARDS: '2' } })
  const { deps } = await product.ingress()
  await using probe = await openBrokerProbe(product.config.amqpUrl)
  await probe.put('pings.1', Buffer.from('waits'))
  await using watch = openQueueWatch(deps, deps.installation.generations, (queue) => queue.startsWith('pings.'))
  const problem = 'broker: no consumer takes from pings.1'
  await eventually('the queue to be a problem', () => watch.problems().includes(problem), 60_000)
  const measured = async (gauge: 'queueConsumers' | 'queueMessages') =>
    (await deps.metrics[gauge].get()).values.find(({ labels }) => labels.queue === 'pings.1')?.value
  t.is(await measured('queueConsumers'), 0)
  // Besides the test's messages, each queue contains heartbeats of the listener.
  t.true(((await measured('queueMessages')) ?? 0) >= 1)
  const doctor = await adminOf(product)('doctor')
  t.is(doctor.status, 1)
  t.regex(doctor.stdout, /WRONG\s+consumers: no consumer takes from .*pings\.1/)
})

const isThere = async (broker: Pick<Broker, 'inspect'>, queue: string) => (await broker.inspect([queue])).has(queue)

function pingOf(checkId: number, receivedAt: number): AcceptedPing {
  return {
    checkId,
    kind: 'success',
    exitStatus: null,
    receivedAt,
    scheme: 'http',
    remoteAddr: null,
    method: 'GET',
    ua: '',
    rid: null,
    body: null,
  }
}
