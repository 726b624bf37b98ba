import { type Micros, microsOfSeconds } from '../../time.ts'
import { countFailures, type FailureCount } from './failures.ts'
import { notifyFlapping, startsToFlap } from './flapping.ts'
import type { Decided, Decision, Facts, Incident, Suppression } from './incident.ts'
import { endSequences, notifyAck, recoverPeople } from './personal.ts'
import { broughtForward, furtherStep, notifiedUpTo, withSkip } from './plan.ts'
import { isAtLeast, type Plan, stepOffsets, usesPeople } from './policy.ts'
import { type PendingReason, SUPPRESSIONS } from './reasons.ts'
import { endWait, passedOf } from './reassign.ts'
import { notifyDirectly, recover, remindDirectly } from './recovery.ts'
import { sendWithPeople } from './send-people.ts'
import { sendStep } from './send-step.ts'
import { NO_SEQUENCES } from './sequences.ts'
import { beginOf, settlesAt, stoppedTime, suppressionAt, suppressionsOf } from './suppressions.ts'

/** A suppressed incident is evaluated at least this often, because the end of a suppression may change. */
const MAX_SUPPRESSION: Micros = microsOfSeconds(600)
const RECOVERING_EVERY: Micros = microsOfSeconds(10)

/** A pure function (docs/spec/alerting.md#decisions): the simulator and the tests call it too. */
export function decide(incident: Incident | null, facts: Facts, now: Micros): Decided {
  const { flip } = facts
  if (!incident) {
    if (!flip) return { incident: null, notifications: [], withdrawn: [], decision: null }
    // Without an open incident, the check's own integrations get the recovery.
    if (flip.to === 'up') return notifyDirectly(null, facts, flip)
  }
  const draft = incident ? { ...incident, notified: [...incident.notified] } : opened(facts, now)
  if (facts.check.projectId !== draft.projectId) return ended(draft, facts, now)
  const isDirect = !facts.policy && draft.isDirect
  if (wasPaused(draft, facts) && !(isDirect && flip)) return recovered(draft, facts, now, 'paused')
  if (incident && flip) applyFlip(draft, flip)
  if (isDirect) return decideDirectly(draft, facts, now)
  const decided = decideByPolicy(draft, facts, now)
  return flip && !decided.decision ? { ...decided, decision: without('JOINED', draft.nextAt) } : decided
}

function recovered(draft: Incident, facts: Facts, now: Micros, resolution: 'recovered' | 'paused'): Decided {
  return recover(draft, facts, { now, resolution, people: recoverPeople(draft, facts) })
}

function without(reason: 'JOINED' | 'MOVED', until: Micros | null): Decision {
  return { outcome: 'none', reason, detail: {}, until, channels: [] }
}

function wasPaused(draft: Incident, { check, flip }: Facts): boolean {
  if (check.status === 'paused') return true
  return !flip && (check.status === 'new' || (check.status === 'up' && draft.upAt === null))
}

function opened({ newId, check, flip, policy, severity, previous }: Facts, now: Micros): Incident {
  return {
    id: newId,
    checkId: check.id,
    projectId: check.projectId,
    state: 'waiting',
    policyId: policy?.id ?? null,
    planVersion: policy?.version ?? 0,
    isDirect: policy === null,
    severity,
    downAt: flip?.at ?? now,
    alertAt: null,
    upAt: null,
    resolvedAt: null,
    resolution: null,
    flips: 1,
    failures: 1,
    flapping: false,
    suppression: null,
    notified: [],
    skips: [],
    isEscalating: false,
    leadId: null,
    firstStep: null,
    sequences: null,
    exhaustedAt: null,
    evaluatedAt: null,
    nextAt: null,
    ack: null,
    previous,
  }
}

function applyFlip(draft: Incident, flip: NonNullable<Facts['flip']>): void {
  draft.flips += 1
  draft.upAt = flip.to === 'up' ? flip.at : null
}

function ended(draft: Incident, { flip }: Facts, now: Micros): Decided {
  const incident: Incident = { ...draft, state: 'resolved', resolution: 'ended', resolvedAt: now, nextAt: null }
  return { incident, notifications: [], withdrawn: [], decision: flip && without('MOVED', null) }
}

function decideDirectly(draft: Incident, facts: Facts, now: Micros): Decided {
  const ackEnd = expireAck(draft, now)
  draft.nextAt = draft.ack?.until ?? null
  draft.evaluatedAt = now
  draft.isEscalating = false
  const { flip } = facts
  if (!flip && ackEnd === 'SNOOZE_ENDED' && facts.check.status === 'down') return remindDirectly(draft, facts, now)
  if (!flip) return { incident: draft, notifications: [], withdrawn: [], decision: null }
  if (flip.to === 'up') {
    Object.assign(draft, {
      state: 'resolved',
      resolution: 'recovered',
      resolvedAt: flip.at,
    } satisfies Partial<Incident>)
  } else if (draft.state === 'waiting') {
    Object.assign(draft, { state: 'alerting', alertAt: flip.at } satisfies Partial<Incident>)
  }
  if (facts.check.status === 'paused' && draft.resolvedAt === null) {
    Object.assign(draft, { state: 'resolved', resolution: 'paused', resolvedAt: now } satisfies Partial<Incident>)
  }
  return notifyDirectly(draft, facts, flip)
}

function decideByPolicy(draft: Incident, facts: Facts, now: Micros): Decided {
  const { policy } = facts
  const suppressions = suppressionsOf(draft, facts, now)
  const stopped = stoppedTime(draft, suppressions, now)
  if (draft.alertAt !== null) draft.alertAt += stopped
  if (draft.exhaustedAt !== null) draft.exhaustedAt += stopped
  const snoozedBy = draft.ack?.by ?? null
  const ackEnd = expireAck(draft, now)
  if (policy) adoptPlan(draft, policy, now)
  draft.severity = facts.severity
  if (policy && ackEnd === 'SNOOZE_ENDED') remind(draft, policy.plan)
  if (policy && draft.sequences?.reassigned != null) beginPlan(draft, now)
  const escalated = policy && draft.isEscalating ? escalate(draft, policy.plan, now) : null
  draft.isEscalating = false

  const count = countOf(draft, facts, now)
  draft.failures = Math.max(draft.failures, count.have)
  if (startsToFlap(draft, facts)) return notifyFlapping(draft, facts, now)
  if (draft.upAt !== null && hasRecovered(draft, facts, count, now)) return recovered(draft, facts, now, 'recovered')
  const settledAt = settlesAt(draft, facts)
  if (settledAt !== null && settledAt <= now) draft.flapping = false
  if (!policy) return idle(draft, now)

  const unmet = draft.alertAt === null && draft.upAt === null ? meetConditions(draft, policy.plan, count, now) : null
  const active = suppressionAt(suppressionsOf(draft, facts, now), now)
  if (active) return suppressedBy(active, draft, facts, now)
  if (unmet) return suppressed(draft, facts, unmet, now)
  const before = { suppressedBefore: draft.suppression, ackEnd, escalated, snoozedBy }
  if (draft.sequences || usesPeople(policy.plan)) return sendWithPeople(draft, facts, now, before)
  const decided = sendStep(draft, facts, now, before)
  const isSent = draft.nextAt === null && draft.firstStep !== null
  draft.exhaustedAt = isSent ? (draft.exhaustedAt ?? now) : null
  return decided
}

function expireAck(draft: Incident, now: Micros): 'ACK_EXPIRED' | 'SNOOZE_ENDED' | null {
  const { ack } = draft
  if (!ack || ack.until === null || ack.until > now) return null
  draft.ack = null
  draft.state = draft.alertAt === null ? 'waiting' : 'alerting'
  return ack.isSnooze ? 'SNOOZE_ENDED' : 'ACK_EXPIRED'
}

/** Makes the last entry of the last step that was sent due again, so that a snooze never ends silently. */
function remind(draft: Incident, plan: Plan): void {
  const last = draft.notified.findLastIndex((entries, index) => {
    const step = plan.steps[index]
    return entries > 0 && step !== undefined && isAtLeast(draft.severity, step.severity)
  })
  const isDueAgain = (entries: number, index: number) => (index === last ? entries - 1 : entries)
  draft.notified = draft.notified.map(isDueAgain)
  const { sequences } = draft
  if (sequences) draft.sequences = { ...sequences, started: sequences.started.map(isDueAgain) }
}

/** Brings the next step forward to now. Begins a plan whose conditions are not met. Returns the step. */
function escalate(draft: Incident, plan: Plan, now: Micros): number | null {
  const next = furtherStep(plan, draft)
  if (next === null) return null
  endWait(draft, now)
  const missing = (stepOffsets(plan)[next] ?? 0) - (now - beginPlan(draft, now)) - broughtForward(next, draft)
  if (missing > 0) draft.skips = withSkip(draft.skips, next, missing)
  return next
}

/** A person acts on the incident, whether or not the conditions are met. Returns the begin of the plan. */
function beginPlan(draft: Incident, now: Micros): Micros {
  if (draft.state === 'waiting') draft.state = 'alerting'
  draft.alertAt ??= now
  return draft.alertAt
}

/** Applies a changed policy from now on: steps that are already due count as sent. */
function adoptPlan(draft: Incident, policy: NonNullable<Facts['policy']>, now: Micros): void {
  if (!draft.isDirect && draft.policyId === policy.id && draft.planVersion === policy.version) return
  draft.policyId = policy.id
  draft.planVersion = policy.version
  draft.isDirect = false
  if (draft.alertAt === null) return
  draft.notified = notifiedUpTo(policy.plan, { ...draft, passed: passedOf(draft, now) })
  const { sequences } = draft
  if (sequences || usesPeople(policy.plan))
    draft.sequences = { ...(sequences ?? NO_SEQUENCES), started: draft.notified }
}

function countOf(draft: Incident, facts: Facts, now: Micros): FailureCount {
  const { failures: need, of } = facts.policy?.plan.when ?? { failures: 1, of: null }
  const { downAt } = draft
  const counted = countFailures(facts.check, facts.recentResults, { need, of, downAt, now })
  // The outage is a failure even if the log no longer contains it.
  return need === 1 ? { ...counted, have: Math.max(1, counted.have), metAt: counted.metAt ?? downAt } : counted
}

function hasRecovered(draft: Incident, facts: Facts, count: FailureCount, now: Micros): boolean {
  const needed = facts.policy?.plan.when.successes ?? 1
  const settledAt = settlesAt(draft, facts)
  return (needed === 1 || count.successes >= needed) && (settledAt === null || settledAt <= now)
}

function meetConditions(
  draft: Incident,
  plan: NonNullable<Facts['policy']>['plan'],
  count: FailureCount,
  now: Micros,
): Decision | null {
  const { failures, down_for: downFor } = plan.when
  const lastsAt = draft.downAt + microsOfSeconds(downFor)
  const none = { outcome: 'suppressed', channels: [] } as const
  if (count.metAt === null) {
    const detail = { have: count.have, need: failures }
    return { ...none, reason: 'FAILURES', detail, until: count.nextAt }
  }
  if (now < lastsAt) return { ...none, reason: 'DOWN_FOR', detail: { seconds: downFor }, until: lastsAt }
  draft.alertAt = beginOf(Math.max(count.metAt, lastsAt, draft.downAt), now)
  if (draft.state === 'waiting') draft.state = 'alerting'
  return null
}

function suppressedBy(active: Suppression, draft: Incident, facts: Facts, now: Micros): Decided {
  const decision: Decision = {
    outcome: 'suppressed',
    reason: active.reason,
    detail: active.detail ?? {},
    until: active.reason === 'RECOVERING' ? null : active.until,
    channels: [],
  }
  const until = recheckAt(draft, facts, active, now)
  if (active.reason !== 'ACKNOWLEDGED' && active.reason !== 'MERGED')
    return suppressed(draft, facts, { ...decision, until }, now, decision)
  const notified = notifyAck(active.reason === 'MERGED' ? { ...draft, ack: null } : draft, facts)
  endWait(draft, now)
  draft.sequences = endSequences(draft)
  return { ...suppressed(draft, facts, { ...decision, until }, now, decision), ...notified }
}

/** An acknowledged incident may recover or settle before the suppression ends. */
function recheckAt(draft: Incident, facts: Facts, { until }: Suppression, now: Micros): Micros {
  const longest = draft.upAt === null ? MAX_SUPPRESSION : RECOVERING_EVERY
  const settledAt = settlesAt(draft, facts) ?? Number.POSITIVE_INFINITY
  return Math.min(until ?? Number.POSITIVE_INFINITY, settledAt, now + longest)
}

/**
 * Sends nothing until `decision.until`. The decision is recorded only if its reason is new or a flip was processed.
 * @param stored recorded instead, if the incident is evaluated again before the suppression ends
 */
function suppressed(
  draft: Incident,
  { flip }: Facts,
  decision: Decision,
  now: Micros,
  stored: Decision = decision,
): Decided {
  const isNew = flip !== null || draft.suppression !== decision.reason
  draft.suppression = isPending(decision.reason) ? decision.reason : null
  draft.evaluatedAt = now
  draft.nextAt = decision.until
  return { incident: draft, notifications: [], withdrawn: [], decision: isNew ? stored : null }
}

function isPending(reason: Decision['reason']): reason is PendingReason {
  return reason === 'FAILURES' || reason === 'DOWN_FOR' || SUPPRESSIONS.some((one) => one === reason)
}

/** Suppresses an incident whose policy was deleted; integrations that were notified still get the recovery. */
function idle(draft: Incident, now: Micros): Decided {
  Object.assign(draft, {
    evaluatedAt: now,
    nextAt: draft.upAt === null ? null : now + RECOVERING_EVERY,
    suppression: null,
  })
  return { incident: draft, notifications: [], withdrawn: [], decision: null }
}
