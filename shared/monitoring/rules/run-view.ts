import { type Micros, toIsoSeconds, toSeconds } from '../../time.ts'
import type { Run, RunStats } from './run.ts'

/** A run as the API shows it; an open one whose deadline has passed has overrun. Lengths in seconds, not rounded. */
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

/** Lengths in seconds; null without a measured success. */
export function toStatsView(stats: RunStats) {
  return { ...stats, p50: secondsOf(stats.p50), p95: secondsOf(stats.p95), p99: secondsOf(stats.p99) }
}

function at(instant: Micros | null): string | null {
  return instant === null ? null : toIsoSeconds(instant)
}

function secondsOf(duration: Micros | null): number | null {
  return duration === null ? null : toSeconds(duration)
}
