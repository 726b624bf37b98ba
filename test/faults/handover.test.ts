import test from 'ava'
import { effort } from '../support/effort.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { auditPings, Ledger, sendPings } from './ledger.ts'

const PINGS = effort(2_000, 6_000)
const HANDOVERS = effort(4, 12)

test.serial(
  'evaluators that are stopped cleanly hand over their shards, and each accepted ping is stored once',
  async (t) => {
    await using product = await openProduct()
    const project = await product.project()
    const { base, deps } = await product.ingress()
    const checks = await Promise.all(Array.from({ length: 8 }, () => addCheck(deps, project.id)))
    const ledger = new Ledger()
    let started = 0
    const load = sendPings({
      base: () => base,
      checks: checks.map(({ uuid }) => uuid),
      connections: 32,
      ledger,
      more: () => started++ < PINGS,
    })
    // Pings are waiting in both queues when the first evaluator starts.
    let active = await product.workers(['ping-evaluator'])
    for (let handover = 0; handover < HANDOVERS; handover++) {
      const next = await product.workers(['ping-evaluator'])
      await active[Symbol.asyncDispose]()
      active = next
    }
    await load
    t.deepEqual(await auditPings(product, ledger), [])
    t.is(ledger.count('accepted'), PINGS)
  },
)
