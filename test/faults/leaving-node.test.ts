import test from 'ava'
import { pingQueue } from '#shared/contracts/ping-batch.ts'
import { queueDeclarations } from '#shared/contracts/topology.ts'
import { openBroker } from '#shared/platform/broker/broker.ts'
import { createLog } from '#shared/platform/process/log.ts'
import { createMetrics } from '#shared/platform/process/metrics.ts'
import { eventually } from '../support/eventually.ts'
import { createVhost } from '../support/services.ts'
import { openLeavingNode } from './leaving-node.ts'

test.serial('a node that shuts down during the connection is replaced by another node each time', async (t) => {
  await using vhost = await createVhost()
  await using node = await openLeavingNode({ port: Number(new URL(vhost.url).port) })
  node.endAtOnce(2)
  const address = node.through(vhost.url)
  await using broker = openBroker({
    url: `${address},${address}`,
    name: 'leaving-node',
    queues: () => queueDeclarations(1),
    publishTimeoutMs: 5_000,
    log: createLog('silent', 'test'),
    metrics: createMetrics(),
  })
  let delivered = 0
  let answered = 0
  await using _taking = broker.consume({
    queue: pingQueue(0),
    prefetch: 100,
    onDelivery(delivery) {
      delivered += 1
      const { replyTo, correlationId } = delivery.message.properties
      if (replyTo) broker.send({ exchange: '', routingKey: replyTo, body: Buffer.alloc(0), correlationId })
      delivery.ack()
    },
  })
  const answers = broker.ask(() => (answered += 1))
  let sent = 0
  /** Asserts that both connections work: a message is confirmed and arrives, and a request gets a reply. */
  const works = async () => {
    const before = { delivered, answered }
    await eventually('a publish to be confirmed', async () => {
      sent += 1
      const message = { exchange: '', routingKey: pingQueue(0), body: Buffer.alloc(0), messageId: String(sent) }
      return await broker.publish({ ...message, type: 'test' }).then(
        () => true,
        () => false,
      )
    })
    await eventually('the message to arrive', () => delivered > before.delivered)
    await eventually('an answer', () => {
      answers.ask({ exchange: '', routingKey: pingQueue(0), body: Buffer.alloc(0), correlationId: 'question' })
      return answered > before.answered
    })
    t.deepEqual(broker.problems(), [])
  }
  await works()
  t.is(node.ended(), 2, 'both connections of a process that starts were ended')

  // A process that was ready before does not wait for the topology again.
  node.endAtOnce(2)
  node.cut()
  await eventually('both connections to be ended again', () => node.ended() === 4)
  await works()
})
