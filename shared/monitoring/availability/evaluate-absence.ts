import { type Micros, microsOfSeconds } from '../../time.ts'
import { type CheckTimes, goingDownAt, type NextOccurrence } from '../checks/status.ts'
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
  /** a run that is open is in doubt, not the schedule */
  isRun: boolean
}

/** What may have kept pings of one check from us. */
export interface Evidence {
  listener: Listener
  /** bit mask of the check's own shard */
  shard: bigint
  gaps: readonly Gap[]
  /** when pings of this check were refused, ascending */
  refusals: readonly Micros[]
  /** what its rules need, changed when it is excused; absent for a plain check */
  ruleState?: RuleState
}

export type Evaluation =
  | { kind: 'down' }
  /** a gap that touches the expectation is still open: nothing can be said */
  | { kind: 'leave' }
  | {
      kind: 'deadline_extended'
      /** from then on its time counts anew */
      at: Micros
      alertAfter: Micros | null
      isRun: boolean
      reason: 'GAP' | 'REFUSED_PING'
      /** what it could not be heard in */
      gapFrom: Micros
      /** from when on nothing is known of it */
      unknownFrom: Micros
    }

/** Owners of checks with an extended deadline are notified after this time, if the new deadline is this much later than the end of the gap (docs/spec/alerting.md#unknown-time). */
export const NOTICE = { afterSeconds: 120, soonSeconds: 3_600 }

const MIN_THRESHOLD: Micros = microsOfSeconds(2)
const MAX_THRESHOLD: Micros = microsOfSeconds(30)

/** When the ping was expected whose deadline passed. @param deadline the going-down time of the check */
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

/** How much blind time excuses a check: what its client, by its period, is not expected to bridge by trying again. */
function thresholdOf(period: Micros): Micros {
  return Math.min(MAX_THRESHOLD, Math.max(MIN_THRESHOLD, period / 20))
}

/**
 * Evaluates an overdue check (docs/spec/alerting.md#overdue-evaluation). A ping expected in a coverage gap extends the deadline to
 * the end of that, and expected anew; everybody else is down.
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

/** A gap that covers the deadline counts to its end; what several gaps cover counts once. */
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
