import type { Micros } from '../../time.ts'
import type { RunFlag, RunRule } from './run-rule.ts'

/** The newest runs of a check that are kept. */
export const RUN_LOG = 500

/** One execution of a job, as it is stored. */
export interface Run {
  /** its number within the check */
  n: number
  rid: string | null
  source: string
  /** null for a finish without a start */
  startedAt: Micros | null
  finishedAt: Micros | null
  duration: Micros | null
  outcome: 'open' | 'success' | 'fail' | 'unknown' | 'abandoned'
  /** null for one that was never open */
  deadline: Micros | null
  flags: RunFlag[]
}

/** Upper borders of the histogram of lengths, seconds. */
export const BUCKETS = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10_800, 21_600, 86_400] as const

/** What is counted of the runs of a check. */
export interface Tally {
  /** number of the newest run */
  runs: number
  /** the newest start, or finish without one */
  beganAt: Micros | null
  /** occurrences without a finish */
  missed: number
  /** successes since the last failure */
  streak: number
  /** measured runs by length, each counted once */
  buckets: number[]
  /** measured runs, and the sum of their lengths in seconds */
  measured: number
  seconds: number
  /** when a run was last given up because too many were open */
  abandonedAt: Micros | null
}

export const NO_TALLY: Readonly<Tally> = Object.freeze({
  runs: 0,
  beganAt: null,
  missed: 0,
  streak: 0,
  buckets: BUCKETS.map(() => 0),
  measured: 0,
  seconds: 0,
  abandonedAt: null,
})

/** Newest successes by whose lengths a slow run is known, how few are too few, and how many of them stay under the length. */
export const SLOW = { of: 200, least: 20, share: 0.95 }

/** What is known of the runs of one check while signals are applied to it. */
export interface RunBook {
  rule: RunRule
  /** oldest first */
  open: Run[]
  /** finished without a start: a start that comes late belongs to one of them */
  headless: Run[]
  tally: Tally
  /** length that 19 of 20 of the newest successes stay under; null while there are fewer than 20 */
  p95: Micros | null
  /** those to be stored */
  changed: Set<Run>
}

/** What the newest measured successes say, and what is counted; lengths in microseconds, null without any. */
export interface RunStats {
  count: number
  p50: Micros | null
  p95: Micros | null
  p99: Micros | null
  missed: number
  streak: number
  open: number
}
