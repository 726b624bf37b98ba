import { type Micros, microsOfSeconds } from '../../time.ts'
import type { NextOccurrence } from '../checks/check.ts'
import { countedAt } from '../checks/early.ts'
import { type CheckTimes, graceStart } from '../checks/status.ts'
import type { Run, RunRule } from './run.ts'

type Timed = Pick<CheckTimes, 'graceSeconds'>

export function runDeadline(check: Timed, rule: RunRule, beganAt: Micros): Micros {
  return beganAt + microsOfSeconds(rule.max ?? check.graceSeconds)
}

export function aliveDeadline(rule: RunRule, run: Run, at: Micros): Micros | null {
  if (rule.alive === null) return run.deadline
  const silence = at + microsOfSeconds(rule.alive)
  if (rule.max === null || run.startedAt === null) return silence
  return Math.min(run.startedAt + microsOfSeconds(rule.max), silence)
}

/** The earliest of runs and schedule (docs/spec/alerting.md#watched-runs); null without a timeout. */
export function watchedDeadline(
  check: CheckTimes,
  { rule, open }: { rule: RunRule; open: readonly Run[] },
  next: NextOccurrence,
): Micros | null {
  if (check.status === 'down' || check.status === 'paused') return null
  const runs =
    rule.watch === 'last'
      ? check.lastStart === null
        ? []
        : [runDeadline(check, rule, check.lastStart)]
      : open.flatMap(({ deadline }) => deadline ?? [])
  const schedule = scheduleDeadline(check, { rule, open }, next)
  return schedule === null ? (runs.length === 0 ? null : Math.min(...runs)) : Math.min(schedule, ...runs)
}

/** An open run counts for its occurrence. */
function scheduleDeadline(
  check: CheckTimes,
  { rule, open }: { rule: RunRule; open: readonly Run[] },
  next: NextOccurrence,
): Micros | null {
  const first = graceStart(check, next)
  if (first === null) return null
  if (rule.watch === 'last') return first + microsOfSeconds(check.graceSeconds)
  const begun = Math.max(...open.flatMap(({ startedAt }) => startedAt ?? []))
  const suppression = begun + microsOfSeconds(rule.early ?? check.earlySeconds ?? 0)
  const due = suppression < first ? first : occurrenceAfter(check, first, suppression, next)
  return due === null ? null : due + microsOfSeconds(rule.start_grace ?? check.graceSeconds)
}

/** `first` is an occurrence not after the instant. */
function occurrenceAfter(check: CheckTimes, first: Micros, after: Micros, next: NextOccurrence): Micros | null {
  if (check.kind !== 'simple') return next(check.kind, check.schedule, check.tz, after)
  const period = microsOfSeconds(check.timeoutSeconds)
  return first + (Math.floor((after - first) / period) + 1) * period
}

/** Per finish. */
const MAX_COUNTED = 1_000

/** Excludes the occurrence of the finishing run (docs/spec/alerting.md#watched-runs). */
export function countMissed(
  check: CheckTimes,
  { lastPing, beganAt, at }: { lastPing: Micros | null; beganAt: Micros | null; at: Micros },
  next: NextOccurrence,
): number {
  if (lastPing === null) return 0
  const grace = microsOfSeconds(check.graceSeconds)
  let count = 0
  let isInHand = false
  let occurrence: Micros | null = countedAt(check, { at: lastPing, duration: check.lastDuration }, next)
  while (count < MAX_COUNTED) {
    occurrence =
      check.kind === 'simple'
        ? occurrence + microsOfSeconds(check.timeoutSeconds)
        : next(check.kind, check.schedule, check.tz, occurrence)
    if (occurrence === null || occurrence + grace >= at) break
    if (beganAt !== null && beganAt <= occurrence + grace) isInHand = true
    count += 1
  }
  return Math.max(0, isInHand ? count - 1 : count)
}
