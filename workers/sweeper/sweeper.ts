import { type Logger, schedule } from 'node-cron'
import { ClockWatch, type Reading } from '#shared/monitoring/availability/clock-watch.ts'
import { addClockGap, cutClockGaps } from '#shared/monitoring/availability/gap-store.ts'
import { createBarriers } from '#shared/platform/broker/barrier.ts'
import { isRetryable } from '#shared/platform/database/db.ts'
import { createHttpClient } from '#shared/platform/http/http-client.ts'
import { describeError } from '#shared/platform/process/log.ts'
import { type Micros, microsOfSeconds, monotonicMicros, toSeconds } from '#shared/time.ts'
import type { Worker, WorkerDeps } from '../define-worker.ts'
import { startHeartbeats } from '../worker-heartbeat.ts'
import type { PossibleWork } from './due-sweeps-store.ts'
import { createDueSweepsReader, createIdleSchedule, everySecond } from './idle-schedule.ts'
import type { Sweep } from './sweep.ts'
import {
  agentDigests,
  dueAlerts,
  dueDeliveries,
  dueMails,
  dueNotifications,
  dueReports,
  unsentMessages,
} from './sweeps/due-messages.ts'
import { dueShifts } from './sweeps/due-shifts.ts'
import { financingEpochs, lapsedRegistrations } from './sweeps/financing.ts'
import { identity } from './sweeps/identity.ts'
import { openRuns } from './sweeps/open-runs.ts'
import { overdueChecks } from './sweeps/overdue-checks.ts'
import { quotaNotices } from './sweeps/quota-notices.ts'
import { abandonedImports, deliveryRetention, retention } from './sweeps/retention.ts'
import { deleteRetiredQueues, servers } from './sweeps/servers.ts'
import { statements } from './sweeps/statements.ts'
import { unknownChecks, unknownNotices } from './sweeps/unknown-checks.ts'
import { watchdog } from './sweeps/watchdog.ts'

/** Above this offset from the database's clock a machine does not sweep, because one of the clocks is wrong. */
const MAX_CLOCK_OFFSET: Micros = microsOfSeconds(5)
/** A larger difference between two readings is a clock jump. No sweep runs until the clock is steady again. */
const MAX_JUMP: Micros = microsOfSeconds(1)

/** The external monitor may be in any network. */
const WATCHDOG_TIMEOUT_MS = 10_000

const EVERY_SECOND = '* * * * * *'

/** Restarts of listeners, evaluators, database or broker may take this long before the process is unready. */
const MAY_BE_LATE_SECONDS = 30

/**
 * Searches for overdue work every second, because a missed ping sends no message. Sweeps run independently, so that a
 * slow one does not delay the others. A process runs each sweep at most once at a time.
 */
export const sweeper: Worker = {
  name: 'sweeper',
  sends: true,
  start(deps) {
    const { watchdogUrl, siteName: userAgent } = deps.config
    const policy = { plainHttp: 'anywhere', allowPrivate: true } as const
    const http = createHttpClient({ policy, userAgent, timeoutMs: WATCHDOG_TIMEOUT_MS })
    const sweeps = [
      overdueChecks(),
      dueAlerts,
      dueNotifications,
      dueDeliveries,
      dueMails,
      deliveryRetention,
      identity,
      lapsedRegistrations,
      financingEpochs,
      unsentMessages,
      retention,
      quotaNotices,
      agentDigests,
      statements,
      unknownChecks,
      openRuns,
      dueShifts,
      unknownNotices,
      dueReports,
      abandonedImports,
      deleteRetiredQueues(),
      servers(),
      ...(watchdogUrl === undefined ? [] : [watchdog(watchdogUrl, http)]),
    ]
    return [http, ...startSweeper(deps, sweeps)]
  },
}

/** @param sweeps separate instances, because some have state */
function startSweeper(deps: WorkerDeps, sweeps: readonly Sweep[]): AsyncDisposable[] {
  const barriers = createBarriers(deps.broker, { generations: deps.installation.generations, metrics: deps.metrics })
  const underWay = new Map<string, Promise<void>>()
  /** monotonic milliseconds, because a clock jump must neither delay nor repeat a sweep */
  const lastRun = new Map<string, number>()
  const idle = createIdleSchedule()
  const readDueSweeps = createDueSweepsReader(deps.reserveDb, deps.log)
  const startedAt = performance.now()
  const watch = new ClockWatch(microsOfSeconds(deps.config.sweepSettleSeconds), monotonicMicros())
  const lastComplete = new Map<string, number>()
  const completeOf = ({ name }: Sweep) => lastComplete.get(name) ?? startedAt
  deps.metrics.sweepLag.read((gauge) => {
    for (const sweep of sweeps) gauge.set({ sweep: sweep.name }, (performance.now() - completeOf(sweep)) / 1000)
  })

  const problemsOf = (sweep: Sweep, maxWaitSeconds: number) => [
    ...latenessOf(sweep, completeOf(sweep)),
    ...(sweep.problems?.(maxWaitSeconds) ?? []),
  ]
  deps.readiness.add(() => sweeps.flatMap((sweep) => problemsOf(sweep, MAY_BE_LATE_SECONDS)))

  function problemsExcept(own: Sweep): string[] {
    const others = sweeps.filter((sweep) => sweep !== own)
    const unfinished = others.filter(({ name }) => !lastComplete.has(name))
    return [
      ...unfinished.map(({ name }) => `sweep: ${name} has not finished since the start`),
      ...others.flatMap((sweep) => problemsOf(sweep, 0)),
    ]
  }

  async function tick(): Promise<void> {
    const seen = await readTrusted()
    if (seen === null) return
    const { now, work } = seen
    for (const sweep of sweeps) {
      const sinceLast = performance.now() - (lastRun.get(sweep.name) ?? Number.NEGATIVE_INFINITY)
      if (sinceLast < sweep.everySeconds * 1000 - 200 || underWay.has(sweep.name)) continue
      if (idle.canSkip(sweep, work, sinceLast)) {
        lastComplete.set(sweep.name, performance.now())
        continue
      }
      lastRun.set(sweep.name, performance.now())
      const isUnsettled = !watch.isCalm(monotonicMicros())
      const run = sweep.run({ deps, barriers, now, isUnsettled, otherProblems: () => problemsExcept(sweep) }).then(
        () => void lastComplete.set(sweep.name, performance.now()),
        (error: unknown) => {
          // If the database is unavailable, the next tick retries; other errors are bugs.
          const level = isRetryable(error) ? 'warn' : 'error'
          if (level === 'warn') lastRun.delete(sweep.name)
          idle.failed(sweep)
          deps.log[level]({ sweep: sweep.name, ...describeError(error) }, 'sweep.failed')
        },
      )
      underWay.set(
        sweep.name,
        run.finally(() => underWay.delete(sweep.name)),
      )
    }
  }

  /** @returns null if the clock cannot be read or is wrong: nothing is swept then */
  async function readTrusted(): Promise<{ now: Micros; work: PossibleWork | null } | null> {
    const requested = deps.clock.now()
    try {
      const seen = await readDueSweeps()
      const { now } = seen
      await storeClockJump(watch.observe(now, monotonicMicros()), now)
      const isExpected = now > requested - MAX_JUMP && now < deps.clock.now() + MAX_JUMP
      const isMachineRight = Math.abs(deps.clock.offset()) <= MAX_CLOCK_OFFSET
      if (isExpected && isMachineRight && deps.clock.problems().length === 0) return seen
      deps.log.warn({ offsetSeconds: toSeconds(deps.clock.offset()) }, 'clock.not-trusted')
    } catch (error) {
      watch.unsettle(monotonicMicros())
      deps.log.warn(describeError(error), 'clock.not-read')
    }
    return null
  }

  async function storeClockJump(reading: Reading, now: Micros): Promise<void> {
    if (reading.kind === 'steady') return
    deps.log.warn({ jump: reading.kind }, 'clock.jumped')
    if (reading.kind === 'forward') await addClockGap(deps.reserveDb, reading.from, reading.until)
    else await cutClockGaps(deps.reserveDb, now)
  }

  const { sweepInterval } = deps.config
  const task =
    sweepInterval === EVERY_SECOND
      ? everySecond(tick, deps.log)
      : schedule(sweepInterval, tick, { noOverlap: true, logger: scheduleLog(deps.log) })
  return [
    startHeartbeats(deps, 'sweeper'),
    {
      async [Symbol.asyncDispose]() {
        await task.destroy()
        await Promise.allSettled([...underWay.values()])
      },
    },
  ]
}

/** node-cron otherwise writes to standard output. */
function scheduleLog(log: WorkerDeps['log']): Logger {
  return {
    info: (detail) => log.info({ detail }, 'sweep.timer-noted'),
    warn: (detail) => log.warn({ detail }, 'sweep.tick-missed'),
    error: (error) => log.error(describeError(error), 'sweep.timer-failed'),
    debug: (error) => log.debug(describeError(error), 'sweep.timer-noted'),
  }
}

function latenessOf({ name, everySeconds }: Sweep, lastComplete: number): string[] {
  const seconds = Math.round((performance.now() - lastComplete) / 1000)
  return seconds > everySeconds + MAY_BE_LATE_SECONDS ? [`sweep: ${name} has not finished for ${seconds} s`] : []
}
