import { type Micros, microsOfSeconds } from '../../time.ts'
import type { NextOccurrence } from '../checks/check.ts'
import { type CheckTimes, goingDownAt } from '../checks/status.ts'
import { extendRuleDeadline, ruleExpectation } from '../rules/rule-extension.ts'
import type { RuleState } from '../rules/rule-state.ts'
import type { Gap, Listener } from './unavailable.ts'

/** The listener and shard that would have received the expected ping (docs/spec/alerting.md#overdue-evaluation). */
interface Expectation {
  /** exclusive */
  from: Micros
  /** the deadline, inclusive */
  deadline: Micros
  period: Micros
  /** an open run missed its end; otherwise the schedule was missed */
  isRun: boolean
}

export interface Evidence {
  listener: Listener
  /** bit mask of the check's own shard */
  shard: bigint
  gaps: readonly Gap[]
  /** refused pings of this check, ascending */
  refusals: readonly Micros[]
  /** rule state, changed by an extension; absent for a check without rules */
  ruleState?: RuleState
}

export type Evaluation =
  | { kind: 'down' }
  /** a gap that touches the expected interval is still open */
  | { kind: 'leave' }
  | {
      kind: 'deadline_extended'
      /** acts as a success for deadlines only */
      at: Micros
      alertAfter: Micros | null
      isRun: boolean
      reason: 'GAP' | 'REFUSED_PING'
      gapFrom: Micros
      unknownFrom: Micros
    }

/**
 * Owners are notified after this time, if the new deadline is this much later than the gap's end
 * (docs/spec/alerting.md#unknown-time).
 */
export const NOTICE = { afterSeconds: 120, soonSeconds: 3_600 }

const MIN_THRESHOLD: Micros = microsOfSeconds(2)
const MAX_THRESHOLD: Micros = microsOfSeconds(30)

function expectationOf(
  check: CheckTimes,
  deadline: Micros,
  ruleState: RuleState | undefined,
  next: NextOccurrence,
): Expectation {
  const own = ruleState && ruleExpectation(check, ruleState, deadline, next)
  if (own && 'from' in own) return { ...own, deadline }
  const grace = own?.grace ?? microsOfSeconds(check.graceSeconds)
  if (!ruleState && check.lastStart !== null && check.lastStart + grace === deadline) {
    return { from: check.lastStart, deadline, period: deadline - check.lastStart, isRun: true }
  }
  if (check.kind === 'simple') {
    const timeout = microsOfSeconds(check.timeoutSeconds)
    const { lastPing, deadlineExtendedAt } = check
    const isExtended = deadlineExtendedAt !== null && (lastPing === null || deadlineExtendedAt > lastPing)
    const from = isExtended ? deadlineExtendedAt : (lastPing ?? deadline - grace - timeout) + timeout / 2
    return { from, deadline, period: timeout, isRun: false }
  }
  const occurrence = deadline - grace
  const following = next(check.kind, check.schedule, check.tz, occurrence)
  return { from: occurrence - 1, deadline, period: (following ?? deadline) - occurrence, isRun: false }
}

/** Clients do not bridge longer gaps by retries, given their period. */
function thresholdOf(period: Micros): Micros {
  return Math.min(MAX_THRESHOLD, Math.max(MIN_THRESHOLD, period / 20))
}

/**
 * A ping expected in a coverage gap extends the deadline to one period after its end; otherwise the check is down
 * (docs/spec/alerting.md#overdue-evaluation).
 */
export function evaluateAbsence(
  check: CheckTimes,
  deadline: Micros,
  evidence: Evidence,
  next: NextOccurrence,
): Evaluation {
  const expected = expectationOf(check, deadline, evidence.ruleState, next)
  const touching = evidence.gaps.filter(
    ({ listener, shards, from, until, kind }) =>
      kind !== 'detection' &&
      listener === evidence.listener &&
      (shards & evidence.shard) !== 0n &&
      from <= deadline &&
      (until === null || until > expected.from),
  )
  if (touching.some(({ until }) => until === null)) return { kind: 'leave' }
  const refused = evidence.refusals.filter((at) => at > expected.from && at <= deadline)
  const isUnavailable = unavailableTime(touching, expected.from) >= thresholdOf(expected.period)
  const lastRefusal = refused.at(-1)
  if (!isUnavailable && lastRefusal === undefined) return { kind: 'down' }

  const ends = isUnavailable ? touching.flatMap(({ until }) => until ?? []) : []
  const at = Math.max(...ends, lastRefusal ?? 0, check.deadlineExtendedAt ?? 0)
  const begins = [...(isUnavailable ? touching.map(({ from }) => from) : []), ...refused]
  const gapFrom = Math.min(...begins)
  const extended = { ...check, deadlineExtendedAt: at, ...(expected.isRun && { lastStart: null, lastStartRid: null }) }
  return {
    kind: 'deadline_extended',
    at,
    alertAfter: evidence.ruleState
      ? extendRuleDeadline(extended, evidence.ruleState, { deadline, at, gapFrom, isRun: expected.isRun }, next)
      : goingDownAt(extended, next),
    isRun: expected.isRun,
    reason: isUnavailable ? 'GAP' : 'REFUSED_PING',
    gapFrom,
    unknownFrom: Math.max(gapFrom, Math.ceil(expected.from)),
  }
}

/** A gap that covers the deadline counts to its end; overlapping gaps count once. */
function unavailableTime(gaps: readonly Gap[], from: Micros): Micros {
  let sum = 0
  let reached = from
  for (const gap of gaps.toSorted((a, b) => a.from - b.from)) {
    const begin = Math.max(gap.from, reached)
    const end = gap.until ?? begin
    if (end <= begin) continue
    sum += end - begin
    reached = end
  }
  return sum
}
