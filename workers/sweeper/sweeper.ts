import { schedule } from 'node-cron'
import { microsOf } from '#shared/checks/lock-store.ts'
import { createBarriers } from '#shared/platform/barrier.ts'
import { isRetryable } from '#shared/platform/db.ts'
import { describeError } from '#shared/platform/log.ts'
import { query } from '#shared/platform/sql.ts'
import { MICROS_PER_SECOND, type Micros, nowMicros } from '#shared/time.ts'
import type { Worker, WorkerDeps } from '../define-worker.ts'
import type { Sweep } from './sweep.ts'
import { deliveryRetention } from './sweeps/delivery-retention.ts'
import { dueDeliveries } from './sweeps/due-deliveries.ts'
import { dueNotifications } from './sweeps/due-notifications.ts'
import { overdueChecks } from './sweeps/overdue-checks.ts'
import { retention } from './sweeps/retention.ts'
import { unsentMessages } from './sweeps/unsent-messages.ts'

/** A machine whose clock is further from the database's than this does not sweep: one of the two is wrong. */
const MAX_CLOCK_OFFSET: Micros = 5 * MICROS_PER_SECOND

/**
 * Absence has no message, so it needs a clock: every second the sweeper looks for what did not happen. Each sweep
 * runs by itself, so that a long one delays no other, and never twice at once in one process.
 */
export const sweeper: Worker = {
  name: 'sweeper',
  start: (deps) =>
    startSweeper(deps, [
      overdueChecks(),
      dueNotifications,
      dueDeliveries,
      deliveryRetention,
      unsentMessages,
      retention,
    ]),
}

/** @param sweeps own instances: some remember what they saw last */
export function startSweeper(deps: WorkerDeps, sweeps: readonly Sweep[]): AsyncDisposable[] {
  const barriers = createBarriers(deps.broker, { shards: deps.config.pingShards, metrics: deps.metrics })
  const underWay = new Map<string, Promise<void>>()
  const lastRun = new Map<string, number>()
  let lastComplete = Date.now()

  async function tick(): Promise<void> {
    deps.metrics.sweepLag.set((Date.now() - lastComplete) / 1000)
    const now = await databaseClock()
    if (now === null) return
    for (const sweep of sweeps) {
      const isDue = Date.now() - (lastRun.get(sweep.name) ?? 0) >= sweep.everySeconds * 1000 - 200
      if (!isDue || underWay.has(sweep.name)) continue
      lastRun.set(sweep.name, Date.now())
      const run = sweep.run({ deps, barriers, now }).then(
        () => {
          lastComplete = Date.now()
        },
        (error: unknown) => {
          // What the database cannot serve now is tried at the next tick; anything else is ours to mend.
          const level = isRetryable(error) ? 'warn' : 'error'
          deps.log[level]({ sweep: sweep.name, ...describeError(error) }, 'sweep.failed')
        },
      )
      underWay.set(
        sweep.name,
        run.finally(() => underWay.delete(sweep.name)),
      )
    }
  }

  /** @returns null when it cannot be read, or is not ours: then nothing is swept */
  async function databaseClock(): Promise<Micros | null> {
    try {
      const [row] = await query<{ now: Micros }>(deps.reserveDb, `SELECT ${microsOf('clock_timestamp()')} AS now`)
      const offset = (row?.now ?? 0) - nowMicros()
      deps.metrics.clockOffset.set(offset / MICROS_PER_SECOND)
      if (row && Math.abs(offset) <= MAX_CLOCK_OFFSET) return row.now
      deps.log.error({ offsetSeconds: offset / MICROS_PER_SECOND }, 'clock.differs-from-database')
    } catch (error) {
      deps.log.warn(describeError(error), 'clock.not-read')
    }
    return null
  }

  const task = schedule(deps.config.sweepInterval, tick, { noOverlap: true })
  return [
    {
      async [Symbol.asyncDispose]() {
        await task.destroy()
        await Promise.allSettled([...underWay.values()])
      },
    },
  ]
}
