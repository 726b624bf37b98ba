import { queuesOf, settledShards } from '#shared/contracts/ping-generations.ts'
import type { Doubts } from '#shared/monitoring/availability/extension-store.ts'
import { settledUntil } from '#shared/monitoring/availability/heartbeat-store.ts'
import { hasOverdue, sweepOverdue, sweepPages } from '#shared/monitoring/checks/overdue-store.ts'
import { liveGenerations } from '#shared/platform/database/ping-shards.ts'
import { type Micros, toSeconds } from '#shared/time.ts'
import { createLedger } from '../ledger.ts'
import type { Sweep, Tick } from '../sweep.ts'

const BARRIER_TIMEOUT_MS = 2_000
/** Without overdue checks it looks this often for coverage gaps. */
const IDLE_SECONDS = 10
/** Even without overdue checks the shards get a barrier at this interval, so that a lost evaluator is noticed. */
const PROBE_EVERY_MS = 10_000

/**
 * Missing pings may still be in a listener or in a queue. Therefore it reads the settled time of every listener, then
 * sends barriers, in this order (docs/adr/0005), and sweeps only shards that replied.
 */
export function overdueChecks(): Sweep {
  let probedAt = Number.NEGATIVE_INFINITY
  let silent: Silence | null = null
  const ledger = createLedger()
  return {
    name: 'overdue-checks',
    everySeconds: 1,
    work: 'overdueChecks',
    idleSeconds: IDLE_SECONDS,
    async run(tick) {
      const { deps, barriers } = tick
      const { until, stalledMicros } = await settledUntil(deps.reserveDb)
      deps.metrics.sweepStalled.set(toSeconds(stalledMicros))
      // Read after the settled limit, so that it includes each queue that a listener had used by then.
      const live = await liveGenerations(deps.reserveDb)
      const total = live.at(-1)?.shards ?? 0
      const coverage = await ledger.readCoverage(tick, total)
      const before = Math.min(until, coverage.provenUntil)
      const isDue = await hasOverdue(deps.reserveDb, before)
      if (!isDue && performance.now() - probedAt < PROBE_EVERY_MS) return
      probedAt = performance.now()
      const answered = settledShards(live, await barriers.answering(live.flatMap(queuesOf), BARRIER_TIMEOUT_MS))
      deps.metrics.unsweptShards.set(total - answered.length)
      const since = silent?.since ?? performance.now()
      const shards = Array.from({ length: total }, (_, shard) => shard).filter((shard) => !answered.includes(shard))
      silent = shards.length > 0 ? { since, shards } : null
      if (silent) reportSilence(tick, silent)
      const evaluated = answered.filter((shard) => !coverage.unavailableShards.includes(shard))
      if (isDue && !tick.isUnsettled && evaluated.length > 0)
        await takeAllDown(tick, { before, shards: { answered: evaluated, total }, doubts: coverage.doubts })
    },
    problems(maxWaitSeconds) {
      const gaps = ledger.problems(maxWaitSeconds)
      if (silent === null || secondsOf(silent) < maxWaitSeconds) return gaps
      return [
        ...gaps,
        `sweep: shards ${silent.shards.join(', ')} have not replied to barriers for ${secondsOf(silent)} s`,
      ]
    },
  }
}

/** Shards that did not reply to the last barrier. */
interface Silence {
  /** monotonic milliseconds */
  since: number
  shards: number[]
}

function secondsOf({ since }: Silence): number {
  return Math.round((performance.now() - since) / 1000)
}

async function takeAllDown(
  { deps }: Tick,
  {
    before,
    shards,
    doubts,
  }: { before: Micros; shards: { answered: readonly number[]; total: number }; doubts: Doubts | null },
): Promise<void> {
  await sweepPages(
    () => sweepOverdue(deps.reserveDb, before, shards, doubts),
    (swept) => {
      deps.metrics.flips.inc({ to: 'down' }, swept.down.length)
      deps.outbox.publishLater(swept.messages)
      deps.metrics.checksDeadlineExtended.inc(swept.extended.length)
      deps.live.changed([...swept.down, ...swept.extended])
    },
  )
}

/** Logs an error after a minute, because checks of these shards cannot go down. */
function reportSilence({ deps }: Tick, silence: Silence): void {
  const seconds = secondsOf(silence)
  deps.log[seconds >= 60 ? 'error' : 'warn']({ shards: silence.shards, seconds }, 'shards.not-swept')
}
