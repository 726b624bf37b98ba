import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { median } from './load.ts'
import { addChecks, openBenchStack } from './stack.ts'
import type { Row } from './table.ts'
import { arm } from './tenants-attacks.ts'

/** No ping of a tenant waits longer for what another one does. */
const LIMIT_MS = 100
/** An attack that is over sooner is watched on for so long: without a ping in between it would say nothing. */
const MIN_MS = 200

/**
 * The slowest ping of one tenant while another does the worst that a single request could: each of the six attacks that
 * once stopped the ingress, beside runs in which nobody attacks. What counts is the median over the runs: on a machine
 * with other work a single one also measures that.
 */
export async function benchTenants({ rounds, idleMs }: { rounds: number; idleMs: number }): Promise<Row[]> {
  await using stack = await openBenchStack({
    PLATFORM_RATE_LIMIT_PER_MINUTE: '0',
    // Each verification comes from another address, or the limit would spare the work that is measured.
    TRUSTED_PROXIES: '127.0.0.1',
  })
  const [uuid = ''] = await addChecks(stack.db, 1)
  const { port } = await stack.ingress()
  await stack.workers('ping-evaluator', 'pack-composer', 'anchor', 'financing-registrar')
  const attacks = await arm(stack, port)
  // Once before: a thread that starts and code that is compiled are not what an attack costs.
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
  // What a thread of the ingress takes is taken from everybody on the machine, whoever takes it.
  const rows = [rowOf('none, but one processor is busy', await slowestOfRuns(() => keepBusy(idleMs)), idle)]
  for (const [name, attack] of Object.entries(attacks)) rows.push(rowOf(name, await slowestOfRuns(attack), idle))
  return rows
}

/** @param slowest milliseconds of the slowest ping of each run */
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
