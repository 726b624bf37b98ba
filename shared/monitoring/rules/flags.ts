import { type Micros, microsOfSeconds, toSeconds } from '../../time.ts'
import type { NextOccurrence } from '../checks/check.ts'
import type { CheckTimes } from '../checks/status.ts'
import type { Run, RunBook, RunFlag } from './run.ts'

/** For a start, or a finish without a start (docs/spec/alerting.md#watched-runs). `book` is the state before it. */
export function beginFlags(check: CheckTimes, book: RunBook, at: Micros, next: NextOccurrence): RunFlag[] {
  const { rule, tally } = book
  const flags: RunFlag[] = []
  if (rule.spacing !== null && tally.beganAt !== null && at - tally.beganAt < microsOfSeconds(rule.spacing))
    flags.push('TOO_OFTEN')
  if (isOutside(check, book, at, next)) flags.push('OUTSIDE_SCHEDULE')
  return flags
}

function isOutside(check: CheckTimes, { rule }: RunBook, at: Micros, next: NextOccurrence): boolean {
  if (check.kind === 'simple') return false
  const late = microsOfSeconds(rule.start_grace ?? check.graceSeconds)
  const near = next(check.kind, check.schedule, check.tz, at - late - 1)
  return near === null || near > at + microsOfSeconds(rule.early ?? check.earlySeconds ?? 0)
}

export function finishFlags({ rule, p95 }: RunBook, run: Run, at: Micros): RunFlag[] {
  const flags: RunFlag[] = []
  const { duration, deadline } = run
  if (rule.min !== null && duration !== null && toSeconds(duration) < rule.min) flags.push('TOO_SHORT')
  if (rule.slow !== null && duration !== null && p95 !== null && duration > rule.slow * p95) flags.push('SLOW')
  if (deadline !== null && at > deadline) flags.push('OVERRUN')
  return flags
}

export function failsOn({ rule }: RunBook, flags: readonly RunFlag[]): boolean {
  return flags.some((flag) => rule.fail_on.includes(flag))
}
