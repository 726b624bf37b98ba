import { randomUUID } from 'node:crypto'
import test from 'ava'
import { encodePingBatch, PING_BATCH_VERSION } from '#shared/contracts/ping-batch.ts'
import { nowMicros } from '#shared/time.ts'
import { retention } from '../../workers/sweeper/sweeps/retention.ts'
import { addMail, addWebhook, notify } from '../support/alerts.ts'
import { type BrokerProbe, openBrokerProbe } from '../support/broker-probe.ts'
import { eventually } from '../support/eventually.ts'
import { openHttpSink } from '../support/http-sink.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { openSmtpSink } from '../support/smtp-sink.ts'
import { backlogEmpty } from './ledger.ts'

const COPIES = 5

test.serial('five copies of each message to several workers have one effect', async (t) => {
  await using sink = await openHttpSink()
  await using mail = await openSmtpSink()
  await using product = await openProduct({ env: { PING_SHARDS: '1', SMTP_URL: mail.url } })
  const project = await product.project()
  const { deps } = await product.ingress()
  const check = await addCheck(deps, project.id)
  const integrations = [
    await addWebhook(deps, project.id, sink.url),
    await addMail(deps, project.id, 'ops@example.org'),
  ]
  await notify(product.db, [check], integrations)
  const evaluators = [await product.workers(['ping-evaluator']), await product.workers(['ping-evaluator'])]
  await product.workers(['notifier'])
  await product.workers(['notifier'])
  await using probe = await openBrokerProbe(product.config.amqpUrl)

  const stream = randomUUID()
  const putPing = async (seq: number, kind: 'success' | 'fail') => {
    const ping = { checkId: check.id, kind, exitStatus: null, receivedAt: nowMicros() }
    const rest = { scheme: 'http', remoteAddr: null, method: 'GET', ua: '', rid: randomUUID(), body: null }
    const body = encodePingBatch({ stream, seq, pings: [{ ...ping, ...rest }] })
    const messageId = `${stream}:${seq}`
    await putCopies(probe, 'pings.0', { body, messageId, version: PING_BATCH_VERSION })
  }
  await putPing(1, 'success')
  await putPing(2, 'fail')
  await backlogEmpty(product)
  t.is(Number((await product.db('checks').first('n_pings'))?.n_pings), 2)
  const flips = await product.db('flips').select('to_status').orderBy('id')
  t.deepEqual(
    flips.map(({ to_status: to }) => to),
    ['up', 'down'],
  )

  await putCopies(probe, 'alerts.wake.alerter', event({}))
  await sink.waitFor(1)
  await mail.waitFor(1)
  for (const { id } of await product.db('notifications').select('id')) {
    await putCopies(probe, 'notification.due.notifier', event({ notificationId: id }))
  }

  // The oldest possible copies: their streams are not deleted yet.
  await product.db.raw(`UPDATE ping_streams SET updated_at = updated_at - interval '6 days 23 hours'`)
  const [first] = evaluators
  if (first)
    await retention.run({ deps: first, barriers: { answering: async () => new Set<number>() }, now: nowMicros() })
  await putPing(1, 'success')
  await putPing(2, 'fail')

  // A change after the copies is notified once as well.
  await putPing(3, 'success')
  await sink.waitFor(({ path }) => path === '/up')
  await mail.waitFor(2)
  await eventually('the copies to be gone', async () => (await probe.depth('notification.due.notifier')) === 0)
  t.deepEqual(
    sink.requests.map(({ path }) => path),
    ['/down', '/up'],
  )
  t.is(mail.mails.length, 2)
  t.is(Number((await product.db('checks').first('n_pings'))?.n_pings), 3)
  t.is((await product.db('flips').select('id')).length, 3)
  t.is((await product.db('notifications').select('id')).length, 4)
})

interface Copied {
  body: Buffer
  messageId: string
  version: number
}

function event(payload: unknown): Copied {
  return { body: Buffer.from(JSON.stringify(payload)), messageId: randomUUID(), version: 1 }
}

async function putCopies(probe: BrokerProbe, queue: string, { body, messageId, version }: Copied): Promise<void> {
  for (let copy = 0; copy < COPIES; copy++) await probe.put(queue, body, { messageId, headers: { v: version } })
}
