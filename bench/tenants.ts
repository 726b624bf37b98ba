import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { median } from './load.ts'
import { addChecks, openBenchStack } from './stack.ts'
import type { Row } from './table.ts'
import { arm } from './tenants-attacks.ts'

/** Maximum delay of a ping by requests of another tenant. */
const LIMIT_MS = 100
/** Minimum observation time of an attack that ends early; without a ping in between it would show nothing. */
const MIN_MS = 200

/**
 * Measures the slowest ping of one tenant during the worst single requests of another: each of the attacks that
 * once stopped the ingress, compared with runs without an attack. The median over the runs counts, because a single run
 * also measures other load of the machine.
 */
export async function benchTenants({ rounds, idleMs }: { rounds: number; idleMs: number }): Promise<Row[]> {
  await using stack = await openBenchStack({
    PLATFORM_RATE_LIMIT_PER_MINUTE: '0',
    // Each verification uses another address; otherwise the limit would prevent the work.
    TRUSTED_PROXIES: '127.0.0.1',
  })
  const [uuid = ''] = await addChecks(stack.db, 1)
  const { port } = await stack.ingress()
  await stack.workers('ping-evaluator', 'pack-composer', 'anchor', 'financing-registrar')
  const attacks = await arm(stack, port)
  // Runs once before, because thread start and compilation are not part of the attack.
  for (const attack of Object.values(attacks)) await attack()
  await using pings = pingSteadily(`http://127.0.0.1:${port}/ping/${uuid}`)
  const slowestOfRuns = async (work: () => Promise<unknown>) => {
    const slowest: number[] = []
    for (let round = 0; round < rounds; round++) {
      await pings.slowest()
      await Promise.all([work(), sleep(MIN_MS)])
      slowest.push(await pings.slowest())
    }
    return slowest
  }
  const idle = await slowestOfRuns(() => sleep(idleMs))
  // Processor time of an ingress thread is taken from all processes of the machine.
  const rows = [rowOf('none, but one processor is busy', await slowestOfRuns(() => keepBusy(idleMs)), idle)]
  for (const [name, attack] of Object.entries(attacks)) rows.push(rowOf(name, await slowestOfRuns(attack), idle))
  return rows
}

/** @param slowest milliseconds, per run */
function rowOf(attack: string, slowest: readonly number[], idle: readonly number[]): Row {
  return {
    attack,
    'slowest ping, median, ms': median(slowest).toFixed(1),
    'idle, ms': median(idle).toFixed(1),
    ratio: (median(slowest) / median(idle)).toFixed(1),
    'worst run, ms': Math.max(...slowest).toFixed(1),
    'limit, ms': LIMIT_MS,
    held: median(slowest) < LIMIT_MS ? 'yes' : 'NO',
  }
}

async function keepBusy(ms: number): Promise<void> {
  const busy = new Worker(`const end = performance.now() + ${ms}; while (performance.now() < end);`, { eval: true })
  await once(busy, 'exit')
}

/** Sends pings from a separate thread. `slowest` returns milliseconds since the last call. */
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
