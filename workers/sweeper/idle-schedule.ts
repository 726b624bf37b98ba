import type { Knex } from 'knex'
import { readServerClock } from '#shared/platform/database/server.ts'
import { describeError, type Log } from '#shared/platform/process/log.ts'
import type { Micros } from '#shared/time.ts'
import { type PossibleWork, readDueSweeps } from './due-sweeps-store.ts'
import type { Sweep } from './sweep.ts'

/** Default interval of a sweep without possible work. */
const IDLE_SECONDS = 60
/** Tolerance for timers that fire early. */
const EARLY_MS = 200
/** A read that takes longer probably waits for a lock, so the sweeps run without its result. */
const MAX_READ_MS = 500

/** Decides which sweeps can be skipped. */
export interface IdleSchedule {
  /** @param sinceLastMs since its last run */
  canSkip(sweep: Sweep, work: PossibleWork | null, sinceLastMs: number): boolean
  failed(sweep: Sweep): void
}

/** A sweep runs while there may be work, and once more afterwards to reset its metrics. */
export function createIdleSchedule(): IdleSchedule {
  const unfinished = new Set<string>()
  return {
    canSkip({ name, work: part, idleSeconds = IDLE_SECONDS }, work, sinceLastMs) {
      if (part === undefined) return false
      const hasWork = work === null || work[part]
      const isSkipped = !hasWork && !unfinished.has(name) && sinceLastMs < idleSeconds * 1000 - EARLY_MS
      if (hasWork) unfinished.add(name)
      else unfinished.delete(name)
      return isSkipped
    },
    failed: ({ name }) => void unfinished.add(name),
  }
}

/**
 * Returns a function that reads, in one statement, the database's clock and which sweeps may have work. If a lock
 * delays this statement or it fails, the function reads only the clock, and every sweep runs. A locked table therefore
 * delays only its own sweep.
 */
export function createDueSweepsReader(db: Knex, log: Log): () => Promise<{ now: Micros; work: PossibleWork | null }> {
  let pending: ReturnType<typeof readDueSweeps> | null = null
  return async () => {
    if (pending === null) {
      const begun = readDueSweeps(db)
      pending = begun
      begun
        .catch((error: unknown) => log.debug(describeError(error), 'sweep.due-not-read'))
        .finally(() => (pending = null))
      const late = Promise.withResolvers<null>()
      const timer = setTimeout(late.resolve, MAX_READ_MS, null)
      const seen = await Promise.race([begun.catch(() => null), late.promise])
      clearTimeout(timer)
      if (seen) return seen
    }
    return { now: await readServerClock(db), work: null }
  }
}

/** Replaces node-cron at the default interval: its calendar dates cost a third of the CPU time of an idle sweeper. */
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
