import { maskOfShards } from '#shared/contracts/ping-generations.ts'
import { type Gap, gapsOf, provenUntil } from '#shared/monitoring/gaps/blind.ts'
import type { Doubts } from '#shared/monitoring/gaps/excuse-store.ts'
import { keepGaps, lastDoubt } from '#shared/monitoring/gaps/gap-store.ts'
import { readProofs } from '#shared/monitoring/gaps/proof-store.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { type Micros, microsOfSeconds, nowMicros, toIsoSeconds, toSeconds } from '#shared/time.ts'
import type { Tick } from './sweep.ts'

/** What a sweep knows of our own blindness. */
interface Sight {
  /** beyond it the doors have not said yet what they could take */
  provenUntil: Micros
  /** shards that pings by HTTP cannot reach at this moment */
  blindShards: number[]
  /** null while there has been nothing to judge by */
  doubts: Doubts | null
}

/** Gaps are stored again after this time even if nothing changed: another sweeper may have stored older ones. */
const KEEP_EVERY: Micros = microsOfSeconds(60)

/** Finds and keeps gaps (alerting 5.2). One per sweeper: it remembers what it stored last. */
export interface Ledger {
  /** @param shards of the newest ping queues */
  look(tick: Tick, shards: number): Promise<Sight>
  /** doors that take no pings at this moment, and have not for so many seconds */
  problems(patienceSeconds: number): string[]
}

export function createLedger(): Ledger {
  let kept = { signature: '', at: 0 }
  let counted: ReadonlySet<string> | null = null
  let shut: readonly Gap[] = []

  return {
    problems: (patienceSeconds) => problemsOf(shut, microsOfSeconds(patienceSeconds)),
    async look({ deps }, pingShards) {
      const { now, since, proofs } = await readProofs(deps.reserveDb)
      const gaps = gapsOf(proofs, pingShards, now).map((gap) => ({ ...gap, shards: underAny(gap.shards, pingShards) }))
      const signature = gaps
        .map(({ door, shards, from, until, kind }) => [door, shards, from, until, kind].join())
        .join(';')
      if (signature !== kept.signature || now - kept.at > KEEP_EVERY) {
        await keepGaps(deps.reserveDb, gaps, since)
        kept = { signature, at: now }
      }
      counted = countClosed(deps.metrics, gaps, counted)
      const open = gaps.filter(({ until, kind }) => until === null && kind !== 'detection')
      for (const door of ['http', 'smtp'] as const) {
        deps.metrics.gapOpen.set({ door }, open.some((gap) => gap.door === door) ? 1 : 0)
      }
      shut = open
      const last = open.length > 0 ? now : await lastDoubt(deps.reserveDb)
      const blind = open.filter(({ door }) => door === 'http').reduce((mask, { shards }) => mask | shards, 0n)
      return {
        provenUntil: provenUntil(proofs, now),
        blindShards: Array.from({ length: pingShards }, (_, shard) => shard).filter(
          (shard) => (blind & (1n << BigInt(shard))) !== 0n,
        ),
        doubts: last === null ? null : { until: last, gaps, shards: pingShards, next: nextOccurrence },
      }
    },
  }
}

/** The same mask for other numbers of shards as well: the record is read after a change of the number too. */
function underAny(mask: bigint, shards: number): bigint {
  return maskOfShards(Array.from({ length: shards }, (_, shard) => (mask & (1n << BigInt(shard))) !== 0n))
}

function problemsOf(open: readonly Gap[], patience: Micros): string[] {
  const present = nowMicros()
  return [...new Map(open.map((gap) => [gap.door, gap])).values()]
    .filter(({ from }) => present - from >= patience)
    .map(({ door, from, cause }) => `gaps: ${door} takes no pings since ${toIsoSeconds(from)} (${cause})`)
}

/** Counts what ended since this sweeper began; @returns what is counted */
function countClosed(
  metrics: Tick['deps']['metrics'],
  gaps: readonly Gap[],
  before: ReadonlySet<string> | null,
): ReadonlySet<string> {
  const closed = new Set<string>()
  for (const { door, shards, from, until, cause } of gaps) {
    if (until === null) continue
    const key = `${door} ${shards} ${from}`
    closed.add(key)
    if (before && !before.has(key)) metrics.gapSeconds.inc({ door, cause }, toSeconds(until - from))
  }
  return closed
}
