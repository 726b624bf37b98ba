import test from 'ava'
import { pingQueue } from '#shared/contracts/ping-batch.ts'
import { queueDeclarations } from '#shared/contracts/topology.ts'
import { alertsReevaluate } from '#shared/contracts/worker-messages.ts'
import { UnavailableError } from '#shared/errors.ts'
import { openBroker } from '#shared/platform/broker/broker.ts'
import { createOutbox } from '#shared/platform/broker/outbox.ts'
import { createLog } from '#shared/platform/process/log.ts'
import { createMetrics } from '#shared/platform/process/metrics.ts'
import { addWebhook, notify } from '../support/alerts.ts'
import { openBrokerProbe } from '../support/broker-probe.ts'
import { eventually } from '../support/eventually.ts'
import { openHttpSink } from '../support/http-sink.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { createVhost } from '../support/services.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { auditPings, Ledger, LONG_LOG, STEADILY, sendPings } from './ledger.ts'

test.serial('pings with lost confirms are refused and counted at most once', async (t) => {
  await using vhost = await createVhost()
  await using proxy = await startTcpProxy({ port: Number(new URL(vhost.url).port) })
  await using product = await openProduct({
    env: {
      AMQP_URL: proxy.through(vhost.url),
      PUBLISH_TIMEOUT_MS: '1000',
      ...LONG_LOG,
    },
  })
  const project = await product.project()
  const { base, deps } = await product.ingress()
  const checks = await Promise.all(Array.from({ length: 8 }, () => addCheck(deps, project.id)))
  await product.workers(['ping-evaluator'])
  const ledger = new Ledger()
  let isOver = false
  const load = sendPings({
    base: () => base,
    checks: checks.map(({ uuid }) => uuid),
    connections: 8,
    ledger,
    ...STEADILY,
    more: () => !isOver && ledger.entries.size < 90_000,
  })
  const accepts = () => {
    const before = ledger.count('accepted')
    return eventually('pings to be accepted', () => ledger.count('accepted') > before + 100)
  }
  for (let round = 0; round < 3; round++) {
    await accepts()
    const refused = ledger.count('unknown')
    proxy.deafen(true)
    await eventually('confirms to be missed', () => ledger.count('unknown') > refused + 8)
    proxy.cut()
    proxy.restore()
  }
  await accepts()
  isOver = true
  await load
  t.deepEqual(await auditPings(product, ledger), [])
  t.is(ledger.count('refused'), 0)
})

test.serial('a message with a lost confirm is sent again with its id and has one effect', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct()
  const project = await product.project()
  const { base, deps } = await product.ingress()
  const check = await addCheck(deps, project.id)
  await notify(product.db, [check], [await addWebhook(deps, project.id, sink.url)])
  await using workers = await product.workers(['notifier'])
  const { amqpUrl, pingShards } = product.config
  await using proxy = await startTcpProxy({ port: Number(new URL(amqpUrl).port) })
  await using broker = openBroker({
    url: proxy.through(amqpUrl),
    name: 'behind the proxy',
    queues: () => queueDeclarations(pingShards),
    publishTimeoutMs: 500,
    log: createLog('silent', 'test'),
    metrics: createMetrics(),
  })
  await broker.connected()
  const outbox = createOutbox(product.db, broker, createLog('silent', 'test'))
  await product
    .db('flips')
    .insert({ check_id: check.id, at: new Date(), from_status: 'up', to_status: 'down', reason: 'fail' })

  await eventually('the publishing channel to be open', () => broker.publisherEpoch !== '')
  proxy.deafen(true)
  await outbox.run((_tx, enqueue) => enqueue(alertsReevaluate, {}))
  await outbox.settled()
  const [left] = await product.db('outbox').select('message_id')
  t.truthy(left, 'unconfirmed, it stays')
  await sink.waitFor(1)

  proxy.cut()
  proxy.restore()
  await eventually('the copy to be sent', async () => {
    await product.db('outbox').update({ resend_at: product.db.fn.now() })
    return (await outbox.resend(10)) === 1
  })
  const handled = async () => {
    const { values } = await workers.metrics.handled.get()
    const count = values.find(
      ({ metricName, labels }) => metricName?.endsWith('_count') && labels.queue === 'alerts.wake.alerter',
    )
    return count?.value
  }
  await eventually('the copy to be handled', async () => ((await handled()) ?? 0) >= 2)
  t.is((await product.db('notifications').select('id')).length, 1)

  await product.workers(['ping-evaluator'])
  await product.db('checks').where({ id: check.id }).update({ status: 'down' })
  t.is((await fetch(`${base}/ping/${check.uuid}`)).status, 200)
  await sink.waitFor(({ path }) => path === '/up')
  t.deepEqual(
    sink.requests.map(({ path }) => path),
    ['/down', '/up'],
  )
})

test.serial('unanswered requests are repeated on another channel; answered ones keep their channel', async (t) => {
  await using vhost = await createVhost()
  await using broker = openBroker({
    url: vhost.url,
    name: 'requester',
    queues: () => queueDeclarations(1),
    publishTimeoutMs: 500,
    log: createLog('silent', 'test'),
    metrics: createMetrics(),
  })
  await broker.connected()
  /** the channel of each received request, which its reply address contains */
  const channels = new Set<string>()
  let answersTo: string | null = null
  await using _taking = broker.consume({
    queue: pingQueue(0),
    prefetch: 100,
    onDelivery(delivery) {
      const { replyTo, correlationId } = delivery.message.properties
      channels.add(replyTo)
      if (replyTo === answersTo)
        broker.send({ exchange: '', routingKey: replyTo, body: Buffer.alloc(0), correlationId })
      delivery.ack()
    },
  })
  let answered = 0
  const answers = broker.ask(() => (answered += 1))
  let requested = 0
  const ask = () => {
    answers.ask({ exchange: '', routingKey: pingQueue(0), body: Buffer.alloc(0), correlationId: String(++requested) })
  }
  await eventually('a second channel', () => {
    ask()
    return channels.size === 2
  })
  answersTo = [...channels].at(-1) ?? null
  const until = requested + 40
  await eventually('the answers', () => {
    ask()
    return requested > until && answered > 30
  })
  t.is(channels.size, 2, 'the channel with answered requests stays open')
})

test.serial('a connection that its node closes during the setup does not count as open', async (t) => {
  await using vhost = await createVhost()
  await using proxy = await startTcpProxy({ port: Number(new URL(vhost.url).port) })
  let prepared = 0
  await using broker = openBroker({
    url: [1, 2].map(() => proxy.through(vhost.url)).join(','),
    name: 'broken off',
    queues: () => {
      prepared += 1
      if (prepared <= 2) proxy.cut()
      return queueDeclarations(1)
    },
    publishTimeoutMs: 5_000,
    log: createLog('silent', 'test'),
    metrics: createMetrics(),
  })
  await eventually('another connection attempt', () => prepared >= 4)
  await eventually('the publishing channel to be open', () => broker.publisherEpoch !== '')
  // A cluster node does not wait long for its topology, so the queue may exist later on a busy machine.
  await using probe = await openBrokerProbe(vhost.url)
  await eventually('the queue to exist', () => probe.exists(pingQueue(0)))
  const message = { exchange: '', routingKey: pingQueue(0), body: Buffer.from('x'), messageId: 'x', type: 'test' }
  await t.notThrowsAsync(broker.publish(message))
})

test.serial('a process is ready only while it has a publishing channel', async (t) => {
  await using vhost = await createVhost()
  await using broker = openBroker({
    url: vhost.url,
    name: 'without a channel',
    queues: () => queueDeclarations(1),
    publishTimeoutMs: 60_000,
    log: createLog('silent', 'test'),
    metrics: createMetrics(),
  })
  await broker.connected()
  t.not(broker.publisherEpoch, '')
  t.deepEqual(broker.problems(), [])
  // Publishing to a missing exchange closes the channel.
  const message = { exchange: 'none', routingKey: '', body: Buffer.from('x'), messageId: 'x', type: 'test' }
  await t.throwsAsync(broker.publish(message), { instanceOf: UnavailableError })
  t.deepEqual(broker.publishProblems(), ['broker (publish): its channel is not open'])
  t.deepEqual(broker.problems(), broker.publishProblems())
  await eventually('another channel', () => broker.publishProblems().length === 0)
})
