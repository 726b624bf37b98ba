import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { readServerClock } from '#shared/platform/database/server.ts'
import { describeError, type Log } from '#shared/platform/process/log.ts'
import type { Micros } from '#shared/time.ts'
import { glance, type Work } from './glance-store.ts'
import type { Sweep } from './sweep.ts'

/** A sweep without possible work runs at this interval. */
const QUIET_SECONDS = 60
/** Timers of a sweep are this early at most. */
const EARLY_MS = 200
/** A glance that takes longer waits for a lock: the sweeps run without it. */
const MAX_GLANCE_MS = 500

/** Decides which sweeps have nothing to do. */
export interface Rest {
  /** @param sinceLastMs since its last run */
  isQuiet(sweep: Sweep, work: Work | null, sinceLastMs: number): boolean
  failed(sweep: Sweep): void
}

/** A sweep runs while there may be work, and once more after that, which sets its metrics to rest. */
export function createRest(): Rest {
  const unfinished = new Set<string>()
  return {
    isQuiet({ name, work: part, quietSeconds = QUIET_SECONDS }, work, sinceLastMs) {
      if (part === undefined) return false
      const hasWork = work === null || work[part]
      const mayRest = !hasWork && !unfinished.has(name) && sinceLastMs < quietSeconds * 1000 - EARLY_MS
      if (hasWork) unfinished.add(name)
      else unfinished.delete(name)
      return mayRest
    },
    failed: ({ name }) => void unfinished.add(name),
  }
}

/**
 * Returns a function that reads the database's clock and which sweeps may have work, at rest in one statement. If a lock
 * or an error keeps it from that, it reads the clock alone, and every sweep runs: one table holds up only its own sweep.
 */
export function createGlances(db: Knex, log: Log): () => Promise<{ now: Micros; work: Work | null }> {
  let pending: ReturnType<typeof glance> | null = null
  return async () => {
    if (pending === null) {
      const begun = glance(db)
      pending = begun
      begun
        .catch((error: unknown) => log.debug(describeError(error), 'sweep.glance-failed'))
        .finally(() => (pending = null))
      const late = new AbortController()
      const timeout = sleep(MAX_GLANCE_MS, null, { signal: late.signal }).catch(() => null)
      const seen = await Promise.race([begun.catch(() => null), timeout])
      late.abort()
      if (seen) return seen
    }
    return { now: await readServerClock(db), work: null }
  }
}

/** For the default interval: node-cron computes calendar dates for each tick, a third of what the sweeper costs at rest. */
export function everySecond(tick: () => Promise<void>, log: Log): { destroy(): Promise<void> } {
  let running: Promise<void> | null = null
  let last = performance.now()
  const timer = setInterval(() => {
    const missed = Math.floor((performance.now() - last) / 1_000) - 1
    last = performance.now()
    if (missed > 0) log.warn({ missed }, 'sweep.tick-missed')
    running ??= tick()
      .catch((error: unknown) => log.error(describeError(error), 'sweep.timer-failed'))
      .finally(() => (running = null))
  }, 1_000)
  return {
    async destroy() {
      clearInterval(timer)
      await running
    },
  }
}
