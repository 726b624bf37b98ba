import { type Micros, microsOfSeconds } from '../../time.ts'
import type { PingType } from '../checks/state-machine.ts'

const MAX_DURATION_MICROS: Micros = microsOfSeconds(72 * 3600)

/** With more unresolved finishes no ping of the response gets a duration. */
const MAX_LOOK_BACKS = 10

export interface TimedPing {
  n: number
  type: PingType
  at: Micros
  rid: string | null
}

/** The start may be older than the list: the newest success, fail or start with this rid in the range. */
export interface LookBack {
  n: number
  at: Micros
  rid: string | null
  /** the lowest number in the list; all later pings are known */
  beforeN: number
  /** 72 hours before the finish */
  after: Micros
}

export interface DurationPlan {
  /** by ping number, in microseconds */
  known: ReadonlyMap<number, Micros>
  lookBacks: readonly LookBack[]
}

/** null if no ping matches */
export interface LookBackAnswer {
  n: number
  found: Pick<TimedPing, 'n' | 'type' | 'at'> | null
}

/** Uses the listed pings only (docs/spec/monitoring.md#pings-list), newest first. */
export function planDurations(pings: readonly TimedPing[]): DurationPlan {
  const known = new Map<number, Micros>()
  const lookBacks: LookBack[] = []
  const oldest = pings.at(-1)
  if (!oldest) return { known, lookBacks }
  // Time of the open start of each run; null after its end.
  const runs = new Map<string | null, Micros | null>()
  for (const { n, type, at, rid } of pings.toReversed()) {
    if (type === 'start') runs.set(rid, at)
    if (type !== 'success' && type !== 'fail') continue
    const startedAt = runs.get(rid)
    runs.set(rid, null)
    if (startedAt === undefined) {
      if (n === 1 || at - oldest.at >= MAX_DURATION_MICROS) continue
      lookBacks.push({ n, at, rid, beforeN: oldest.n, after: at - MAX_DURATION_MICROS })
    } else if (startedAt !== null && isMeasurable(at - startedAt)) {
      known.set(n, at - startedAt)
    }
  }
  return lookBacks.length > MAX_LOOK_BACKS ? { known: new Map(), lookBacks: [] } : { known, lookBacks }
}

/** If the newest match is a success or fail, the run had already ended. */
export function finishDurations(plan: DurationPlan, answers: Iterable<LookBackAnswer>): ReadonlyMap<number, Micros> {
  const durations = new Map(plan.known)
  const requested = new Map(plan.lookBacks.map((lookBack) => [lookBack.n, lookBack]))
  for (const { n, found } of answers) {
    const lookBack = requested.get(n)
    if (found?.type !== 'start' || !lookBack || !isMeasurable(lookBack.at - found.at)) continue
    durations.set(n, lookBack.at - found.at)
  }
  return durations
}

/** Pings that arrived out of order can be further apart than the limit. */
function isMeasurable(duration: Micros): boolean {
  return duration >= 0 && duration < MAX_DURATION_MICROS
}
