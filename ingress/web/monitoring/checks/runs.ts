import type { RecordedPing } from '#shared/monitoring/pings/store.ts'
import type { Micros } from '#shared/time.ts'

/** A measured run of the job: from its start ping to its finish. */
export interface Run {
  from: Micros
  /** null while it is open */
  until: Micros | null
  isFailed: boolean
  /** ping number of the finish; 0 for an open run */
  n: number
}

/** More would be narrower than a finger. */
const MAX_RUNS = 40

/** The newest measured runs, oldest finish first; a run that is open comes last. */
export function runsOf(
  pings: readonly RecordedPing[],
  durations: ReadonlyMap<number, Micros>,
  openSince: Micros | null,
  now: Micros,
): Run[] {
  const finished = pings
    .filter((ping) => durations.has(ping.n))
    .slice(0, MAX_RUNS)
    .map((ping) => ({
      from: ping.at - (durations.get(ping.n) ?? 0),
      until: ping.at,
      isFailed: ping.type === 'fail',
      n: ping.n,
    }))
    .toReversed()
  return openSince === null || openSince > now
    ? finished
    : [...finished, { from: openSince, until: null, isFailed: false, n: 0 }]
}

/**
 * Puts runs into lanes so that those of one lane do not overlap: one lane means that no two ran at once.
 * @returns per run its lane, from 0
 */
export function lanesOf(runs: readonly Run[], now: Micros): number[] {
  const ends: Micros[] = []
  const lanes = new Map<Run, number>()
  for (const run of runs.toSorted((a, b) => a.from - b.from)) {
    const free = ends.findIndex((end) => end <= run.from)
    const lane = free === -1 ? ends.length : free
    ends[lane] = run.until ?? now
    lanes.set(run, lane)
  }
  return runs.map((run) => lanes.get(run) ?? 0)
}
