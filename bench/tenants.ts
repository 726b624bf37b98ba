import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { addChecks, openBenchStack } from './stack.ts'
import type { Row } from './table.ts'
import { arm } from './tenants-attacks.ts'

/** No ping of a tenant waits longer for what another one does. */
const LIMIT_MS = 100

/**
 * The slowest ping of one tenant while another does the worst that a single request could: each of the six attacks that
 * once stopped the ingress, `rounds` times in a row, beside a run in which nobody attacks.
 */
export async function benchTenants({ rounds, idleSeconds }: { rounds: number; idleSeconds: number }): Promise<Row[]> {
  await using stack = await openBenchStack({
    PLATFORM_RATE_LIMIT_PER_MINUTE: '0',
    // Each verification comes from another address, or the limit would spare the work that is measured.
    TRUSTED_PROXIES: '127.0.0.1',
  })
  const [uuid = ''] = await addChecks(stack.db, 1)
  const { port } = await stack.ingress()
  const attacks = await arm(stack, port)
  await stack.workers('ping-evaluator', 'pack-composer', 'anchor')
  // Once before: a thread that starts and code that is compiled are not what an attack costs.
  for (const attack of Object.values(attacks)) await attack()
  await using pings = pingSteadily(`http://127.0.0.1:${port}/ping/${uuid}`)
  await sleep(1_000)
  await pings.slowest()
  await sleep(idleSeconds * 1_000)
  const idleMs = await pings.slowest()
  const rows: Row[] = []
  for (const [name, attack] of Object.entries(attacks)) {
    for (let round = 0; round < rounds; round++) await attack()
    const slowestMs = await pings.slowest()
    rows.push({
      attack: name,
      'slowest ping, ms': slowestMs.toFixed(1),
      'idle, ms': idleMs.toFixed(1),
      ratio: (slowestMs / idleMs).toFixed(1),
      'limit, ms': LIMIT_MS,
      held: slowestMs < LIMIT_MS ? 'yes' : 'NO',
    })
  }
  return rows
}

/** Pings from a thread of its own until it is disposed of; `slowest` is in milliseconds, since the last look. */
function pingSteadily(url: string): AsyncDisposable & { slowest(): Promise<number> } {
  const worker = new Worker(new URL('./steady-pings.ts', import.meta.url), { workerData: url })
  return {
    async slowest() {
      worker.postMessage('look')
      const [slowestMs] = await once(worker, 'message')
      return Number(slowestMs)
    },
    async [Symbol.asyncDispose]() {
      await worker.terminate()
    },
  }
}
