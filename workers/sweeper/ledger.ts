import { maskOfShards } from '#shared/contracts/ping-generations.ts'
import type { Doubts } from '#shared/monitoring/availability/extension-store.ts'
import { lastDoubt, storeGaps } from '#shared/monitoring/availability/gap-store.ts'
import { readProofs } from '#shared/monitoring/availability/proof-store.ts'
import { type Gap, gapsOf, provenUntil } from '#shared/monitoring/availability/unavailable.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { type Micros, microsOfSeconds, nowMicros, toIsoSeconds, toSeconds } from '#shared/time.ts'
import type { Tick } from './sweep.ts'

interface Sight {
  /** listeners have not proven later times, so later deadlines cannot be evaluated */
  provenUntil: Micros
  /** HTTP pings cannot reach these at present */
  unavailableShards: number[]
  /** null without a gap or refusal */
  doubts: Doubts | null
}

/** Another sweeper may have stored older gaps, so they are stored again even without a change. */
const STORE_EVERY: Micros = microsOfSeconds(60)

/** See docs/spec/alerting.md#coverage-gaps. One per sweeper, because it remembers the stored gaps. */
export interface Ledger {
  look(tick: Tick, shards: number): Promise<Sight>
  /** listeners without pings at present, with the seconds since they stopped */
  problems(maxWaitSeconds: number): string[]
}

export function createLedger(): Ledger {
  let kept = { signature: '', at: 0 }
  let counted: ReadonlySet<string> | null = null
  let shut: readonly Gap[] = []

  return {
    problems: (maxWaitSeconds) => problemsOf(shut, microsOfSeconds(maxWaitSeconds)),
    async look({ deps }, pingShards) {
      const { now, since, proofs } = await readProofs(deps.reserveDb)
      const gaps = gapsOf(proofs, pingShards, now).map((gap) => ({ ...gap, shards: underAny(gap.shards, pingShards) }))
      const signature = gaps
        .map(({ listener, shards, from, until, kind }) => [listener, shards, from, until, kind].join())
        .join(';')
      if (signature !== kept.signature || now - kept.at > STORE_EVERY) {
        await storeGaps(deps.reserveDb, gaps, since)
        kept = { signature, at: now }
      }
      counted = countClosed(deps.metrics, gaps, counted)
      const open = gaps.filter(({ until, kind }) => until === null && kind !== 'detection')
      for (const listener of ['http', 'smtp'] as const) {
        deps.metrics.gapOpen.set({ listener }, open.some((gap) => gap.listener === listener) ? 1 : 0)
      }
      shut = open
      const last = open.length > 0 ? now : await lastDoubt(deps.reserveDb)
      const blind = open.filter(({ listener }) => listener === 'http').reduce((mask, { shards }) => mask | shards, 0n)
      return {
        provenUntil: provenUntil(proofs, now),
        unavailableShards: Array.from({ length: pingShards }, (_, shard) => shard).filter(
          (shard) => (blind & (1n << BigInt(shard))) !== 0n,
        ),
        doubts: last === null ? null : { until: last, gaps, shards: pingShards, next: nextOccurrence },
      }
    },
  }
}

/** Gaps are also read after a change of the number of shards. */
function underAny(mask: bigint, shards: number): bigint {
  return maskOfShards(Array.from({ length: shards }, (_, shard) => (mask & (1n << BigInt(shard))) !== 0n))
}

function problemsOf(open: readonly Gap[], detectionDelay: Micros): string[] {
  const present = nowMicros()
  return [...new Map(open.map((gap) => [gap.listener, gap])).values()]
    .filter(({ from }) => present - from >= detectionDelay)
    .map(({ listener, from, cause }) => `gaps: ${listener} takes no pings since ${toIsoSeconds(from)} (${cause})`)
}

/** Counts gaps that ended since this sweeper started. */
function countClosed(
  metrics: Tick['deps']['metrics'],
  gaps: readonly Gap[],
  before: ReadonlySet<string> | null,
): ReadonlySet<string> {
  const closed = new Set<string>()
  for (const { listener, shards, from, until, cause } of gaps) {
    if (until === null) continue
    const key = `${listener} ${shards} ${from}`
    closed.add(key)
    if (before && !before.has(key)) metrics.gapSeconds.inc({ listener, cause }, toSeconds(until - from))
  }
  return closed
}
