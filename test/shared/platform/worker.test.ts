import { randomUUID } from 'node:crypto'
import test from 'ava'
import { z } from 'zod'
import { defineMessage, queueOf } from '#shared/contracts/define-message.ts'
import { PermanentError, UnavailableError } from '#shared/errors.ts'
import { openBroker } from '#shared/platform/broker/broker.ts'
import { on, subscribe } from '#shared/platform/broker/worker.ts'
import { createLog } from '#shared/platform/process/log.ts'
import { createMetrics } from '#shared/platform/process/metrics.ts'
import { openBrokerProbe } from '../../support/broker-probe.ts'
import { eventually } from '../../support/eventually.ts'
import { openProduct } from '../../support/product.ts'

const work = defineMessage('test.work', 1, { consumers: ['tester'], schema: z.object({ name: z.string() }) })
const queue = queueOf(work, 'tester')

/** A worker of this test alone, on the product's runtime. */
async function runWorker(handle: (name: string) => Promise<void>, options: { deadlineMs?: number } = {}) {
  const resources = new AsyncDisposableStack()
  const product = resources.use(await openProduct())
  const log = createLog('silent', 'test')
  const metrics = createMetrics()
  const args = { 'x-queue-type': 'quorum' }
  const broker = resources.use(
    openBroker({
      url: product.config.amqpUrl,
      name: 'test',
      queues: () => [
        { name: queue, arguments: args },
        { name: `${queue}.dead`, arguments: args },
      ],
      publishTimeoutMs: 5_000,
      log,
      metrics,
    }),
  )
  const handled: string[] = []
  const take = async ({ name }: { name: string }) => {
    handled.push(name)
    await handle(name)
  }
  const deps = { db: product.db, broker, log, metrics, crashPoint: () => {} }
  subscribe('tester', on(work, 10, take, options), deps)
  await broker.connected()
  const probe = resources.use(await openBrokerProbe(product.config.amqpUrl))
  return {
    handled,
    metrics,
    probe,
    async put(name: string) {
      const messageId = randomUUID()
      await probe.put(queue, Buffer.from(JSON.stringify({ name, later: 'unknown keys are ignored' })), {
        messageId,
        headers: { v: 1 },
      })
      return messageId
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

test('a message that always fails is dead-lettered with its first and last error', async (t) => {
  let tries = 0
  await using worker = await runWorker(async (name) => {
    if (name !== 'poison') return
    tries += 1
    throw tries === 1 ? new TypeError('with a secret in it') : new RangeError('another')
  })
  for (let n = 0; n < 20; n++) await worker.put(`good ${n}`)
  const messageId = await worker.put('poison')
  for (let n = 20; n < 40; n++) await worker.put(`good ${n}`)
  const messages = await worker.probe.take(`${queue}.dead`, 1)
  t.is(messages.length, 1)
  t.is(messages[0]?.properties.messageId, messageId)
  t.like(messages[0]?.properties.headers, {
    v: 1,
    'x-signalbox-reason': 'FAILED',
    'x-signalbox-queue': queue,
    'x-signalbox-failures': 5,
    'x-signalbox-first-error': 'TypeError',
    'x-signalbox-last-error': 'RangeError',
  })
  const good = () => new Set(worker.handled.filter((name) => name.startsWith('good'))).size
  await eventually('the others to be handled', () => good() === 40)
})

test('a handler that never ends counts as failed', async (t) => {
  await using worker = await runWorker((name) => (name === 'hang' ? new Promise(() => {}) : Promise.resolve()), {
    deadlineMs: 100,
  })
  await worker.put('hang')
  await worker.put('good')
  const [message] = await worker.probe.take(`${queue}.dead`, 1)
  t.like(message?.properties.headers, { 'x-signalbox-reason': 'FAILED', 'x-signalbox-failures': 5 })
  t.is(message?.properties.headers?.['x-signalbox-last-error'], 'Error HANDLER_TIMEOUT')
  await eventually('the other one to be handled', () => worker.handled.includes('good'))
})

test('permanent failures are dead-lettered at once; waiting for a dependency never is', async (t) => {
  let outages = 8
  await using worker = await runWorker(async (name) => {
    if (name === 'permanent') throw new PermanentError('never')
    if (name === 'waits' && outages-- > 0) throw new UnavailableError('later')
  })
  await worker.put('waits')
  await worker.put('permanent')
  const [message] = await worker.probe.take(`${queue}.dead`, 1)
  t.is(message?.properties.headers?.['x-signalbox-reason'], 'PERMANENT')
  t.is(worker.handled.filter((name) => name === 'permanent').length, 1)
  await eventually('the patient one to be done', () => outages < 0)
  t.is(await worker.probe.depth(`${queue}.dead`), 0)
})

test('a fault that is not of the message never counts against it, and shows in a gauge', async (t) => {
  const faults = [
    ...['42703', '42P01', '26000', '53100', '58030', 'XX000', 'P0001'].map((code) => ({ code })),
    { code: 'ENOSPC', syscall: 'write' },
  ]
  let isSeen = false
  await using worker = await runWorker(async (name) => {
    // It fails until the test has seen that.
    const fault = name === 'waits' ? (faults.pop() ?? (isSeen ? undefined : { code: '58030' })) : { code: '23514' }
    if (fault) throw Object.assign(new Error('no'), fault)
  })
  const waiting = async () => (await worker.metrics.waiting.get()).values.reduce((sum, { value }) => sum + value, 0)
  await worker.put('waits')
  await eventually('the message to be shown as waiting', async () => (await waiting()) === 1)
  isSeen = true
  await worker.put('broken')
  const [message] = await worker.probe.take(`${queue}.dead`, 1)
  t.is(message?.properties.headers?.['x-signalbox-last-error'], 'Error 23514')
  await eventually('the patient one to be done', async () => faults.length === 0 && (await waiting()) === 0)
  t.is(await worker.probe.depth(`${queue}.dead`), 0)
})

test('a message of a newer release is requeued, and finally dead-lettered', async (t) => {
  await using worker = await runWorker(async () => {})
  const now = Math.floor(Date.now() / 1000)
  const put = async (name: string, timestamp: number) =>
    await worker.probe.put(queue, Buffer.from(JSON.stringify({ name })), {
      messageId: randomUUID(),
      headers: { v: 2 },
      timestamp,
    })
  await put('unread', now - 3_600)
  const [message] = await worker.probe.take(`${queue}.dead`, 1)
  t.is(message?.properties.headers?.['x-signalbox-reason'], 'UNKNOWN_VERSION')

  await put('of today', now)
  const seen = await eventually('another consumer to get it', async () => {
    const message = await worker.probe.channel.get(queue, { noAck: true })
    return message || undefined
  })
  t.is(seen.properties.headers?.v, 2)
  t.is(await worker.probe.depth(`${queue}.dead`), 0)
  await worker.put('meant for all')
  t.is(await worker.probe.consumers(queue), 0, 'for a minute it leaves the queue to others')
  t.deepEqual(worker.handled, [])
})
