import test from 'ava'
import { financingSnapshotDue } from '#shared/contracts/worker-messages.ts'
import { createOutbox } from '#shared/platform/broker/outbox.ts'
import { insertMessages } from '#shared/platform/broker/outbox-store.ts'
import { openBrokerProbe } from '../../support/broker-probe.ts'
import { openProduct } from '../../support/product.ts'

const QUEUE = 'financing.snapshot_due.financing-registrar'

test('a row that commits late is sent all the same, and one that is rolled back never', async (t) => {
  await using product = await openProduct()
  const { deps } = await product.ingress()
  await using probe = await openBrokerProbe(product.config.amqpUrl)
  const outbox = createOutbox(product.db, deps.broker, deps.log)
  const enqueue = (epoch: number) => ({ message: financingSnapshotDue, payload: { env: 'SANDBOX' as const, epoch } })
  const late = await product.db.transaction()
  await insertMessages(late, [enqueue(1)])
  await product.db.transaction((tx) => insertMessages(tx, [enqueue(2)]))
  await t.throwsAsync(
    product.db.transaction(async (tx) => {
      await insertMessages(tx, [enqueue(3)])
      throw new Error('changed its mind')
    }),
  )
  const due = () => product.db('outbox').update({ resend_at: product.db.fn.now() })
  await due()
  t.is(await outbox.resend(100), 1)
  await late.commit()
  await due()
  t.is(await outbox.resend(100), 1)
  const sent = await probe.take(QUEUE, 2)
  t.deepEqual(
    sent.map(({ content }) => JSON.parse(content.toString()).epoch),
    [2, 1],
  )
  t.deepEqual(await product.db('outbox').select('id'), [])
})
