import { randomUUID } from 'node:crypto'
import test from 'ava'
import { type AcceptedPing, encodePingBatch, PING_BATCH_VERSION } from '#shared/contracts/ping-batch.ts'
import type { Check } from '#shared/monitoring/checks/check.ts'
import { microsOfSeconds, nowMicros } from '#shared/time.ts'
import { openBrokerProbe } from '../support/broker-probe.ts'
import { effort } from '../support/effort.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { randomOf } from '../support/random.ts'
import { backlogEmpty } from './ledger.ts'

const PERMUTATIONS = effort(150, 1_000)
const SEED = 20261127
const run = { a: randomUUID(), b: randomUUID() }

/** Events, one second apart: two runs, one inside the other, and other signals of a job. */
const signals: Pick<AcceptedPing, 'kind' | 'rid'>[] = [
  { kind: 'success', rid: null },
  { kind: 'start', rid: run.a },
  { kind: 'log', rid: run.a },
  { kind: 'success', rid: run.a },
  { kind: 'fail', rid: null },
  { kind: 'start', rid: run.b },
  { kind: 'success', rid: run.b },
]

test.serial('pings that are applied in any order end in the same state', async (t) => {
  await using product = await openProduct({ env: { PING_SHARDS: '1' } })
  const project = await product.project()
  const { deps } = await product.ingress()
  // One after the other, because many at once exceed the wait limit of the pool.
  const added: Check[] = []
  while (added.length <= PERMUTATIONS) added.push(await addCheck(deps, project.id))
  const checks = added.toSorted((a, b) => a.id - b.id)
  const begunAt = nowMicros() - microsOfSeconds(60)
  // The first check gets the events in order, each of the others in a different order.
  const orders = checks.map((_, index) =>
    index === 0 ? signals.map((_signal, step) => step) : shuffled(signals.length, index),
  )

  await using probe = await openBrokerProbe(product.config.amqpUrl)
  for (let round = 0; round < signals.length; round++) {
    const pings = checks.map(({ id }, index): AcceptedPing => {
      const step = orders[index]?.[round] ?? 0
      const { kind, rid } = signals[step] ?? { kind: 'log', rid: null }
      const receivedAt = begunAt + microsOfSeconds(step)
      const rest = { exitStatus: null, scheme: 'http', remoteAddr: null, method: 'GET', ua: '', body: null }
      return { checkId: id, kind, rid, receivedAt, ...rest }
    })
    // Each event comes from another ingress.
    const body = encodePingBatch({ stream: randomUUID(), seq: 1, pings })
    await probe.put('pings.0', body, { messageId: randomUUID(), headers: { v: PING_BATCH_VERSION } })
    // Applied one after the other, so that no batch can put them in order again.
    if (round === 0) await product.workers(['ping-evaluator'])
    await backlogEmpty(product)
  }

  const states = await product.db('checks').select('*').orderBy('id')
  const [ordered, ...others] = states.map((row) => ({
    status: row.status,
    pings: Number(row.n_pings),
    lastPing: row.last_ping,
    lastStart: row.last_start,
    lastStartRid: row.last_start_rid,
    lastDuration: row.last_duration_us,
    alertAfter: row.alert_after,
  }))
  t.like(ordered, { status: 'up', pings: signals.length, lastStart: null })
  t.is(Number(ordered?.lastDuration), microsOfSeconds(1))
  for (const [index, state] of others.entries()) {
    t.deepEqual(state, ordered, `sent in the order ${orders[index + 1]?.join(' ')}`)
  }
})

function shuffled(length: number, index: number): number[] {
  const { int } = randomOf(SEED, index)
  const order = Array.from({ length }, (_, step) => step)
  for (let last = length - 1; last > 0; last--) {
    const other = int(last + 1)
    const [a = 0, b = 0] = [order[last], order[other]]
    order[last] = b
    order[other] = a
  }
  return order
}
