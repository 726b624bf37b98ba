import type { RecordedPing } from '#shared/monitoring/pings/store.ts'
import type { Micros } from '#shared/time.ts'

export interface Run {
  from: Micros
  until: Micros | null
  isFailed: boolean
  /** ping number of the finish; 0 for an open run */
  n: number
}

/** Bars of more runs would be too narrow to click. */
const MAX_RUNS = 40

/** Returns the newest measured runs, oldest finish first; an open run is last. */
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
 * Assigns runs to lanes without overlaps; one lane means no concurrent runs.
 * @returns lane of each run, from 0
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
