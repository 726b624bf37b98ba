import { type Micros, microsOfSeconds } from '../../time.ts'
import type { NextOccurrence } from '../checks/check.ts'
import type { CheckTimes } from '../checks/status.ts'
import { runDeadline } from './deadline.ts'
import { countedSources, quorumDeadline, staleAt } from './quorum.ts'
import { type RuleState, ruleDeadline } from './rule-state.ts'
import type { Run } from './run.ts'

/** See docs/spec/alerting.md#overdue-evaluation. */
export interface RuleExpectation {
  /** exclusive */
  from: Micros
  period: Micros
  isRun: boolean
}

/** Returns only `grace` if the deadline follows from an occurrence, as without rules. */
export function ruleExpectation(
  check: CheckTimes,
  facts: RuleState,
  deadline: Micros,
  next: NextOccurrence,
): RuleExpectation | { grace: Micros } {
  const startedAt = overdueRun(check, facts, deadline)?.startedAt ?? null
  if (startedAt !== null) return { from: startedAt, period: deadline - startedAt, isRun: true }
  if (facts.sources && check.kind === 'simple' && quorumDeadline(check, facts.sources, next) === deadline) {
    const period = microsOfSeconds(check.timeoutSeconds)
    return { from: deadline - microsOfSeconds(check.graceSeconds) - period / 2, period, isRun: false }
  }
  const rule = facts.runs?.rule
  return { grace: microsOfSeconds((rule?.watch === 'each' ? rule.start_grace : null) ?? check.graceSeconds) }
}

function overdueRun(check: CheckTimes, { runs }: RuleState, deadline: Micros): Pick<Run, 'startedAt'> | null {
  if (!runs) return null
  if (runs.rule.watch === 'each') return runs.open.find((run) => run.deadline === deadline) ?? null
  const isOfLast = check.lastStart !== null && runDeadline(check, runs.rule, check.lastStart) === deadline
  return isOfLast ? { startedAt: check.lastStart } : null
}

/** In place: overdue runs end as unknown, and sources expected in the gap get a new deadline. */
export function extendRuleDeadline(
  check: CheckTimes,
  facts: RuleState,
  { deadline, at, gapFrom, isRun }: { deadline: Micros; at: Micros; gapFrom: Micros; isRun: boolean },
  next: NextOccurrence,
): Micros | null {
  if (isRun && facts.runs) {
    const { runs } = facts
    for (const run of runs.open.filter((it) => (it.deadline ?? at) <= deadline)) {
      run.outcome = 'unknown'
      run.flags = [...run.flags, 'UNKNOWN']
      runs.changed.add(run)
    }
    runs.open = runs.open.filter(({ outcome }) => outcome === 'open')
    const newest = runs.open.at(-1)
    check.lastStart = newest?.startedAt ?? null
    check.lastStartRid = newest?.rid ?? null
  }
  if (facts.sources) {
    const quorum = facts.sources
    const half = check.kind === 'simple' ? microsOfSeconds(check.timeoutSeconds) / 2 : 0
    for (const { name, source } of countedSources(quorum)) {
      const stale = staleAt(check, quorum, source, next)
      const isTouched = stale !== null && stale > gapFrom && stale - microsOfSeconds(check.graceSeconds) - half < at
      if (!isTouched || name === '') continue
      const extended = source ?? {
        name,
        heardAt: null,
        lastPing: null,
        lastKind: '' as const,
        deadlineExtendedAt: null,
      }
      if (!source) quorum.sources.push(extended)
      extended.deadlineExtendedAt = at
      quorum.changed.add(extended)
    }
  }
  return ruleDeadline(check, facts, next)
}
