import { type Micros, toIsoSeconds, toSeconds } from '../../time.ts'
import { invalid, isPresent, readChoice, readList, readNumber, readObject, refuseUnknown } from '../alerting/fields.ts'
import type { JsonValue } from '../checks/json-body.ts'

export const RUN_LOG = 500

export interface Run {
  /** number within the check */
  n: number
  rid: string | null
  source: string
  /** null for a finish without a start */
  startedAt: Micros | null
  finishedAt: Micros | null
  duration: Micros | null
  outcome: 'open' | 'success' | 'fail' | 'unknown' | 'abandoned'
  deadline: Micros | null
  flags: RunFlag[]
}

/** seconds */
export const BUCKETS = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10_800, 21_600, 86_400] as const

export interface Tally {
  runs: number
  /** the newest start, or finish without one */
  beganAt: Micros | null
  missed: number
  streak: number
  /** measured runs by duration; not cumulative */
  buckets: number[]
  measured: number
  seconds: number
  /** when a run was last abandoned because too many were open */
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

/** A run is slow by comparison with the 95th percentile of the newest 200 successes; at least 20 are needed. */
export const SLOW = { of: 200, least: 20, share: 0.95 }

export interface RunBook {
  rule: RunRule
  /** oldest first */
  open: Run[]
  /** finished without a start, which may still arrive late */
  headless: Run[]
  tally: Tally
  /** see SLOW; null with too few successes */
  p95: Micros | null
  changed: Set<Run>
}

/** Percentiles are null without a measured success. */
export interface RunStats {
  count: number
  p50: Micros | null
  p95: Micros | null
  p99: Micros | null
  missed: number
  streak: number
  open: number
}

/** An open run after its deadline is shown as overrun. Durations are in seconds. */
export function toRunView(run: Run, now: Micros) {
  const isOverrun = run.outcome === 'open' && run.deadline !== null && run.deadline < now
  return {
    rid: run.rid,
    source: run.source,
    started: at(run.startedAt),
    finished: at(run.finishedAt),
    duration: secondsOf(run.duration),
    outcome: isOverrun ? 'overrun' : run.outcome,
    deadline: at(run.deadline),
    flags: isOverrun && !run.flags.includes('OVERRUN') ? [...run.flags, 'OVERRUN'] : run.flags,
  }
}

export function toStatsView(stats: RunStats) {
  return { ...stats, p50: secondsOf(stats.p50), p95: secondsOf(stats.p95), p99: secondsOf(stats.p99) }
}

function at(instant: Micros | null): string | null {
  return instant === null ? null : toIsoSeconds(instant)
}

function secondsOf(duration: Micros | null): number | null {
  return duration === null ? null : toSeconds(duration)
}

/** See docs/spec/alerting.md#watched-runs. */
const RUN_FLAGS = ['TOO_SHORT', 'TOO_OFTEN', 'OUTSIDE_SCHEDULE', 'OVERLAP', 'SLOW', 'OVERRUN', 'UNKNOWN'] as const

export type RunFlag = (typeof RUN_FLAGS)[number]

/** The run rule of the API. Durations are in seconds; null means no limit. */
export interface RunRule {
  /** `last`: only the newest run counts; `each`: every run has its own deadline */
  watch: 'last' | 'each'
  max: number | null
  start_grace: number | null
  alive: number | null
  min: number | null
  spacing: number | null
  early: number | null
  overlap: 'allow' | 'flag'
  /** a run longer than this multiple of the 95th percentile gets the flag SLOW */
  slow: number | null
  open: number
  fail_on: readonly RunFlag[]
}

const YEAR = 31_536_000
const DAY = 86_400

/** @throws ValidationError for the first invalid member, in the order of the specification */
export function readRunRule(value: JsonValue, path: string): RunRule {
  const rule = readObject(value, path)
  const span = (name: 'max' | 'start_grace' | 'alive' | 'min' | 'spacing' | 'early', min: number, max: number) =>
    isPresent(rule[name]) ? readNumber(rule[name], `${path}.${name}`, { min, max, unit: 'seconds' }) : null
  const read: RunRule = {
    watch: isPresent(rule.watch) ? readChoice(rule.watch, `${path}.watch`, ['last', 'each']) : 'last',
    max: span('max', 60, YEAR),
    start_grace: span('start_grace', 60, YEAR),
    alive: span('alive', 60, DAY),
    min: span('min', 1, YEAR),
    spacing: span('spacing', 1, YEAR),
    early: span('early', 0, DAY),
    overlap: isPresent(rule.overlap) ? readChoice(rule.overlap, `${path}.overlap`, ['allow', 'flag']) : 'allow',
    slow: isPresent(rule.slow) ? readNumber(rule.slow, `${path}.slow`, { min: 2, max: 20 }) : null,
    open: isPresent(rule.open) ? readNumber(rule.open, `${path}.open`, { min: 1, max: 100 }) : 20,
    fail_on: isPresent(rule.fail_on) ? readFlags(rule.fail_on, `${path}.fail_on`) : [],
  }
  refuseUnknown(rule, path, Object.keys(read))
  return read
}

function readFlags(value: JsonValue, path: string): RunFlag[] {
  const flags = readList(value, path, { max: RUN_FLAGS.length }).map((it, index) =>
    readChoice(it, `${path}[${index}]`, RUN_FLAGS),
  )
  if (new Set(flags).size < flags.length) throw invalid(path, 'must not name a flag twice')
  return flags
}
