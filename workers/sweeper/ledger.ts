import { maskOfShards } from '#shared/contracts/ping-generations.ts'
import type { Doubts } from '#shared/monitoring/availability/extension-store.ts'
import { lastDoubt, storeGaps } from '#shared/monitoring/availability/gap-store.ts'
import { readProofs } from '#shared/monitoring/availability/proof-store.ts'
import { type Gap, gapsOf, provenUntil } from '#shared/monitoring/availability/unavailable.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { type Micros, microsOfSeconds, nowMicros, toIsoSeconds, toSeconds } from '#shared/time.ts'
import type { Tick } from './sweep.ts'

interface Coverage {
  /** listeners have not proven later times, so later deadlines cannot be evaluated */
  provenUntil: Micros
  /** shards that receive no HTTP pings at present */
  unavailableShards: number[]
  /** null without a gap or refusal */
  doubts: Doubts | null
}

/** Another sweeper may have stored older gaps, so they are stored again even without a change. */
const STORE_EVERY: Micros = microsOfSeconds(60)

/** See docs/spec/alerting.md#coverage-gaps. One per sweeper, because it remembers the stored gaps. */
export interface Ledger {
  readCoverage(tick: Tick, shards: number): Promise<Coverage>
  /** listeners without pings at present, with the seconds since they stopped */
  problems(maxWaitSeconds: number): string[]
}

export function createLedger(): Ledger {
  let stored = { signature: '', at: 0 }
  let counted: ReadonlySet<string> | null = null
  let openGaps: readonly Gap[] = []

  return {
    problems: (maxWaitSeconds) => problemsOf(openGaps, microsOfSeconds(maxWaitSeconds)),
    async readCoverage({ deps }, pingShards) {
      const { now, since, proofs } = await readProofs(deps.reserveDb)
      const gaps = gapsOf(proofs, pingShards, now).map((gap) => ({
        ...gap,
        shards: maskOfAllGenerations(gap.shards, pingShards),
      }))
      const signature = gaps
        .map(({ listener, shards, from, until, kind }) => [listener, shards, from, until, kind].join())
        .join(';')
      if (signature !== stored.signature || now - stored.at > STORE_EVERY) {
        await storeGaps(deps.reserveDb, gaps, since)
        stored = { signature, at: now }
      }
      counted = countClosed(deps.metrics, gaps, counted)
      const open = gaps.filter(({ until, kind }) => until === null && kind !== 'detection')
      for (const listener of ['http', 'smtp'] as const) {
        deps.metrics.gapOpen.set({ listener }, open.some((gap) => gap.listener === listener) ? 1 : 0)
      }
      openGaps = open
      const last = open.length > 0 ? now : await lastDoubt(deps.reserveDb)
      const unavailable = open
        .filter(({ listener }) => listener === 'http')
        .reduce((mask, { shards }) => mask | shards, 0n)
      return {
        provenUntil: provenUntil(proofs, now),
        unavailableShards: Array.from({ length: pingShards }, (_, shard) => shard).filter(
          (shard) => (unavailable & (1n << BigInt(shard))) !== 0n,
        ),
        doubts: last === null ? null : { until: last, gaps, shards: pingShards, next: nextOccurrence },
      }
    },
  }
}

/** Converts a mask of shards so that it also applies after the number of shards has changed. */
function maskOfAllGenerations(mask: bigint, shards: number): bigint {
  return maskOfShards(Array.from({ length: shards }, (_, shard) => (mask & (1n << BigInt(shard))) !== 0n))
}

function problemsOf(open: readonly Gap[], detectionDelay: Micros): string[] {
  const present = nowMicros()
  return [...new Map(open.map((gap) => [gap.listener, gap])).values()]
    .filter(({ from }) => present - from >= detectionDelay)
    .map(
      ({ listener, from, cause }) => `gaps: ${listener} has accepted no pings since ${toIsoSeconds(from)} (${cause})`,
    )
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
