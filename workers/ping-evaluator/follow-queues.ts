import { setTimeout as wait } from 'node:timers/promises'
import { type PingGeneration, queuesOf, queuesToTake } from '#shared/contracts/ping-generations.ts'
import { createBarriers } from '#shared/platform/broker/barrier.ts'
import { markDrained } from '#shared/platform/database/ping-shards.ts'
import { describeError } from '#shared/platform/process/log.ts'
import { type Micros, microsOfMillis } from '#shared/time.ts'
import type { WorkerDeps } from '../define-worker.ts'

type Deps = Pick<WorkerDeps, 'broker' | 'clock' | 'config' | 'installation' | 'log' | 'metrics' | 'reserveDb'>

const POLL_EVERY_MS = 500
const BARRIER_TIMEOUT_MS = 2_000
/** Tolerance for the clocks of listeners. */
const CLOCK_TOLERANCE_MS = 1_000

/**
 * Consumes the queues of the current generation, and follows changes of their number (docs/adr/0007). A former
 * generation is drained first. Barriers find its end; they are sent after the listeners have settled their pings to it.
 */
export function followQueues(deps: Deps, take: (queue: number) => AsyncDisposable): AsyncDisposable {
  const { installation, log } = deps
  const barriers = createBarriers(deps.broker, { generations: installation.generations, metrics: deps.metrics })
  const taking = new Map<number, AsyncDisposable>()
  const closing = new AbortController()
  adjust()
  const following = followOn()

  function adjust(): void {
    const wanted = queuesToTake(installation.generations())
    for (const queue of wanted) if (!taking.has(queue)) taking.set(queue, take(queue))
    for (const [queue, consumer] of taking) {
      if (wanted.includes(queue)) continue
      taking.delete(queue)
      Promise.resolve(consumer[Symbol.asyncDispose]()).catch((error: unknown) =>
        log.warn(describeError(error), 'pings.queue-not-left'),
      )
    }
  }

  async function followOn(): Promise<void> {
    while (!closing.signal.aborted) {
      await wait(POLL_EVERY_MS, undefined, { ref: false, signal: closing.signal }).catch(() => {})
      if (closing.signal.aborted) return
      adjust()
      await drain().catch((error: unknown) => log.warn(describeError(error), 'pings.change-not-followed'))
    }
  }

  /** Marks the oldest undrained generation as drained if all its queues answer a barrier. */
  async function drain(): Promise<void> {
    const live = installation.generations()
    const former = settledFormer(
      live,
      deps.clock.now() - microsOfMillis(deps.config.publishTimeoutMs + CLOCK_TOLERANCE_MS),
    )
    if (!former) return
    const queues = queuesOf(former)
    const answered = await barriers.answering(queues, BARRIER_TIMEOUT_MS)
    if (answered.size < queues.length) return
    await markDrained(deps.reserveDb, former.generation)
    log.info({ generation: former.generation }, 'pings.generation-drained')
  }

  return {
    async [Symbol.asyncDispose]() {
      closing.abort()
      await following
      await Promise.all([...taking.values()].map((consumer) => consumer[Symbol.asyncDispose]()))
    },
  }
}

/** Returns the oldest undrained generation if its successor was open at `at`; else null. */
function settledFormer(live: readonly PingGeneration[], at: Micros): PingGeneration | null {
  const [former, next] = live.slice(live.findIndex(({ isDrained }) => !isDrained))
  return former && next && next.opensAt <= at ? former : null
}
