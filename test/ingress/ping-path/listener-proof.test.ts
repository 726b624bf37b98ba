import test from 'ava'
import { pingQueue } from '#shared/contracts/ping-batch.ts'
import { createListenerProof } from '../../../ingress/ping-path/listener-proof.ts'
import { eventually } from '../../support/eventually.ts'
import { openProduct } from '../../support/product.ts'

test('without a consumer, heartbeats of a listener continue and do not fill the ping queue', async (t) => {
  await using product = await openProduct({ listener: 'http', workers: [] })
  const { db, deps } = product
  await using proof = createListenerProof(deps, 'smtp', 20)
  proof.start(async () => true)
  const spans = async (): Promise<{ from: number; until: number }[]> => {
    const text = `SELECT extract(epoch FROM from_at)::float AS from, extract(epoch FROM until_at)::float AS until
      FROM listener_heartbeats WHERE kind = 'smtp' ORDER BY from_at`
    return (await db.raw(text)).rows
  }
  const rounds = async () => (await spans()).reduce((sum, { from, until }) => sum + (until - from) * 50, 0)
  await eventually('more rounds of proofs than are left unread', async () => (await rounds()) > 60)
  // RabbitMQ also reports none when the leader of the queue does not answer within 250 ms.
  const held = await eventually('the queue to report its length', async () => {
    const state = (await deps.broker.inspect([pingQueue(0)])).get(pingQueue(0))
    return state && state.messages > 0 && state
  })
  t.is(held.consumers, 0)
  t.true(held.messages <= 10, `${held.messages} barriers of two listeners are queued, which share them`)

  // Once a consumer reads again, the listeners prove coverage by messages as before.
  await product.workers(['ping-evaluator'])
  await eventually('the queue to be read', async () => {
    const state = (await deps.broker.inspect([pingQueue(0)])).get(pingQueue(0))
    return state?.consumers === 1 && state.messages <= 1
  })
  const before = await rounds()
  await eventually('the proof to stay unbroken', async () => (await rounds()) > before + 20)
  // A process that stood still for four seconds causes a gap; a change of the proof would cause one of milliseconds.
  const all = await spans()
  t.true(all.every(({ from }, i) => i === 0 || from - (all[i - 1]?.until ?? 0) > 4))
})
