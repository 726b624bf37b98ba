import { hasOverdue, OVERDUE_PAGE, sweepOverdue } from '#shared/checks/overdue-store.ts'
import { MICROS_PER_SECOND, type Micros } from '#shared/time.ts'
import type { Sweep, Tick } from '../sweep.ts'

/**
 * A ping carries the time it arrived at its ingress, and reaches its queue a little later. A deadline counts as passed
 * only when it lies this far back, so that a ping that was in time is in the queue before the barrier.
 */
const ARRIVAL_SLACK = 1 * MICROS_PER_SECOND
const BARRIER_TIMEOUT_MS = 2_000
/**
 * A barrier that took this long says that the broker or the evaluator is slow: then a ping may be on its way for as long
 * as an ingress waits for its confirm, and deadlines wait as much longer.
 */
const SLOW_BARRIER_MS = 500
/** Without anything overdue the shards are still asked now and then: an evaluator that is gone should be noticed. */
const PROBE_EVERY = 10

/**
 * Takes checks down whose deadline has passed (design: the sweeper). What a shard's queue still holds may be the very
 * pings that seem to be missing: only shards that answered a barrier are swept.
 */
export function overdueChecks(): Sweep {
  let ticks = 0
  let silentSince: Micros | null = null
  return {
    name: 'overdue-checks',
    everySeconds: 1,
    async run(tick) {
      const { deps, barriers, now } = tick
      const before = now - ARRIVAL_SLACK
      const isDue = await hasOverdue(deps.reserveDb, before)
      if (!isDue && ticks++ % PROBE_EVERY !== 0) return
      const { pingShards } = deps.config
      const asked = performance.now()
      const answered = await barriers.sweepable(BARRIER_TIMEOUT_MS)
      const isSlow = performance.now() - asked > SLOW_BARRIER_MS
      deps.metrics.unsweptShards.set(pingShards - answered.length)
      silentSince = answered.length < pingShards ? (silentSince ?? now) : null
      if (silentSince !== null) reportSilence(tick, answered, now - silentSince)
      const passed = isSlow ? before - deps.config.publishTimeoutMs * 1000 : before
      if (isDue && answered.length > 0) await takeAllDown(tick, passed, answered)
    },
  }
}

async function takeAllDown({ deps }: Tick, before: Micros, answered: readonly number[]): Promise<void> {
  for (let looked = OVERDUE_PAGE; looked === OVERDUE_PAGE; ) {
    const swept = await sweepOverdue(deps.reserveDb, before, { answered, total: deps.config.pingShards })
    looked = swept.looked
    deps.metrics.flips.inc({ to: 'down' }, swept.messages.length)
    deps.outbox.publishLater(swept.messages)
    deps.live.changed(swept.down)
  }
}

/** A shard that stays silent for a minute needs a person: its checks cannot go down. */
function reportSilence({ deps }: Tick, answered: readonly number[], silence: Micros): void {
  const silent = Array.from({ length: deps.config.pingShards }, (_, shard) => shard).filter(
    (shard) => !answered.includes(shard),
  )
  const seconds = Math.round(silence / MICROS_PER_SECOND)
  if (seconds >= 60) deps.log.error({ shards: silent, seconds }, 'shards.not-swept')
  else deps.log.warn({ shards: silent, seconds }, 'shards.not-swept')
}
