import { randomUUID } from 'node:crypto'
import type { Options } from 'amqplib'
import test from 'ava'
import { pino } from 'pino'
import { openBrokerProbe } from '../support/broker-probe.ts'
import { eventually } from '../support/eventually.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'

interface Malformed {
  what: string
  body: Buffer
  reason: string
  properties?: Options.Publish
}

const stream = randomUUID()
/** A secret of a sender, which must not appear in our log. */
const SECRET = 'hunter2'
const json = (value: unknown) => Buffer.from(JSON.stringify(value))

const batches: Malformed[] = [
  { what: 'an empty body', body: Buffer.alloc(0), reason: 'NOT_JSON' },
  { what: 'no JSON', body: Buffer.from(`{"v":1,"${SECRET}`), reason: 'NOT_JSON' },
  { what: 'no object', body: json('ping'), reason: 'WRONG_SHAPE' },
  { what: 'an unknown version', body: json({ v: 99, stream, seq: 1, pings: [] }), reason: 'UNKNOWN_VERSION' },
  { what: 'a number without stream', body: json({ v: 1, seq: 1, pings: [] }), reason: 'WRONG_SHAPE' },
  { what: 'a ping of other fields', body: json({ v: 1, stream, seq: 2, pings: [[1, SECRET]] }), reason: 'WRONG_SHAPE' },
  { what: 'bytes that are no UTF-8', body: Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), reason: 'NOT_JSON' },
  { what: '16 MiB of nothing', body: Buffer.alloc(16 * 1024 * 1024, ' '), reason: 'NOT_JSON' },
  {
    what: 'a forged history',
    body: Buffer.from('?'),
    reason: 'NOT_JSON',
    properties: { headers: { 'x-death': [{ count: 99, reason: 'rejected', queue: 'x' }], 'x-delivery-count': 'x' } },
  },
]

const events: Malformed[] = [
  { what: 'an empty body', body: Buffer.alloc(0), reason: 'EMPTY' },
  {
    what: 'no version',
    body: json({ notificationId: randomUUID() }),
    reason: 'UNKNOWN_VERSION',
    properties: { headers: {} },
  },
  {
    what: 'a version to come',
    body: json({ notificationId: randomUUID() }),
    reason: 'UNKNOWN_VERSION',
    properties: { headers: { v: 2 } },
  },
  {
    what: 'no message id',
    body: json({ notificationId: randomUUID() }),
    reason: 'NO_MESSAGE_ID',
    properties: { messageId: '' },
  },
  { what: 'no JSON', body: Buffer.from(`{"password":"${SECRET}`), reason: 'NOT_JSON' },
  { what: 'bytes that are no UTF-8', body: Buffer.from([0x22, 0xc3, 0x28, 0x22]), reason: 'NOT_JSON' },
  { what: 'another schema', body: json({ notification: SECRET }), reason: 'WRONG_SHAPE' },
]

test.serial(
  'unreadable messages are dead-lettered at once with a reason, and their content is not logged',
  async (t) => {
    await using product = await openProduct({ env: { PING_SHARDS: '1' } })
    const project = await product.project()
    const { base, deps } = await product.ingress()
    const check = await addCheck(deps, project.id)
    const written: string[] = []
    const log = pino({ level: 'debug' }, { write: (line: string) => void written.push(line) })
    const workers = await product.workers(['ping-evaluator', 'notifier'], { log })
    await using probe = await openBrokerProbe(product.config.amqpUrl)
    for (const { body, properties } of batches) await probe.put('pings.0', body, { headers: { v: 1 }, ...properties })
    for (const { body, properties } of events) {
      await probe.put('notification.due.notifier', body, { messageId: randomUUID(), headers: { v: 1 }, ...properties })
    }

    const reasonsIn = async (queue: string, count: number) =>
      (await probe.take(queue, count)).map(({ properties }) => properties.headers?.['x-signalbox-reason'])
    t.deepEqual(
      await reasonsIn('pings.0.dead', batches.length),
      batches.map(({ reason }) => reason),
    )
    t.deepEqual(
      (await reasonsIn('notification.due.notifier.dead', events.length)).sort(),
      events.map(({ reason }) => reason).sort(),
    )
    // The log line is written after the confirm, so the dead letter may be visible earlier.
    const lines = () => written.filter((line) => line.includes('message.dead-lettered')).length
    await eventually('all lines to be written', () => lines() >= batches.length + events.length)
    t.is(lines(), batches.length + events.length)
    t.false(written.some((line) => line.includes(SECRET)))

    // No message was retried, and the consumers continue.
    const retried = (await workers.metrics.redelivered.get()).values
    t.deepEqual(retried, [])
    await eventually('its consumer to continue', async () => (await probe.consumers('pings.0')) === 1)
    t.is((await fetch(`${base}/ping/${check.uuid}`)).status, 200)
    await eventually('the next ping to be counted', async () => {
      const row = await product.db('checks').first('n_pings')
      return Number(row?.n_pings) === 1
    })
  },
)
