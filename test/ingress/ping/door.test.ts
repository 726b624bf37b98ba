import test from 'ava'
import { pingQueue } from '#shared/contracts/ping-batch.ts'
import { openDoor } from '../../../ingress/ping/door.ts'
import { eventually } from '../../support/eventually.ts'
import { openProduct } from '../../support/product.ts'

test('while nobody reads the ping queue the proofs of a door do not pile up in it, and go on', async (t) => {
  await using product = await openProduct({ listener: 'http', workers: [] })
  const { db, deps } = product
  await using door = openDoor(deps, 'smtp', 20)
  door.open(async () => true)
  const rounds = async () => {
    const [row] = (
      await db.raw(`SELECT extract(epoch FROM until_at - from_at)::float AS s FROM beats WHERE kind = 'smtp'`)
    ).rows
    return Number(row?.s ?? 0) * 50
  }
  await eventually('more rounds of proofs than are left unread', async () => (await rounds()) > 60)
  const held = (await deps.broker.inspect([pingQueue(0)])).get(pingQueue(0))
  t.is(held?.consumers, 0)
  t.true((held?.messages ?? 0) > 0 && (held?.messages ?? 0) <= 20, `${held?.messages} barriers of two doors are held`)

  // Once somebody reads again, the doors prove by messages as before.
  await product.workers(['ping-evaluator'])
  await eventually('the queue to be read', async () => {
    const state = (await deps.broker.inspect([pingQueue(0)])).get(pingQueue(0))
    return state?.consumers === 1 && state.messages <= 1
  })
  const before = await rounds()
  await eventually('the proof to stay unbroken', async () => (await rounds()) > before + 20)
  t.is((await db('beats').where({ kind: 'smtp' })).length, 1)
})
