import { type Micros, microsOfSeconds, toSeconds } from '../../time.ts'
import type { Decided, Decision, Facts, Incident, IntegrationDecision, NewNotification } from './incident.ts'
import { broughtForward, furtherStep, type PlanNow, readPlan, type StepInstance, withSkip } from './plan.ts'
import { isAtLeast, type Plan, stepOffsets } from './policy.ts'
import { beginWait, endWait, passedOf } from './reassign.ts'
import { MANUAL_ENTRIES, refusalOf } from './recovery.ts'
import { type Before, earliest, isReleased, reasonOf, sendStep, suppressedByName } from './send-step.ts'
import { peopleOf, SequenceRound, unsentOf } from './sequences.ts'

/** A step that is sent later than this begins its sequences at that time. */
const LATE_AFTER: Micros = microsOfSeconds(60)

interface Context {
  draft: Incident
  facts: Facts
  now: Micros
  alertAt: Micros
  plan: Plan
  round: SequenceRound
  before: Before
  /** results for integrations, per step */
  parts: Decided[]
  /** steps that were sent in this evaluation */
  sent: Set<number>
  /** those of them that reached a person or an integration */
  reached: Set<number>
}

/**
 * Sends the due steps of a plan with people, to integrations and to persons. A step that reaches no person does not
 * wait. Changes `draft` in place.
 */
export function sendWithPeople(draft: Incident, facts: Facts, now: Micros, before: Before): Decided {
  const plan = facts.policy?.plan
  if (!plan || draft.alertAt === null) return sendStep(draft, facts, now, before)
  if (draft.sequences?.reassigned != null || passedOf(draft, now) > now - draft.alertAt)
    return notifyAssignee(draft, facts, now, plan)
  endWait(draft, now)
  const { alertAt } = draft
  const wasLastResort = draft.sequences?.isLastResort ?? false
  const round = new SequenceRound(draft, facts, { alertAt, now })
  const work = { parts: [], sent: new Set<number>(), reached: new Set<number>() }
  const context: Context = { draft, facts, now, alertAt, plan, round, before, ...work }
  round.changeShifts()
  const current = sendSteps(context)
  remindSnoozer(context)
  round.sendDue()
  const nextPassed = current.nextPassed === null ? null : alertAt + current.nextPassed
  const planAt = earliest([draft.nextAt, nextPassed, current.hoursAt, round.nextEntryAt()])
  const isSent = draft.firstStep !== null || round.state.isLastResort
  const fallbackAt = planAt === null && isSent ? sendTimedFallback(context) : null
  const entryAt = planAt ?? round.nextEntryAt()
  draft.exhaustedAt = entryAt === null && isSent ? (draft.exhaustedAt ?? now) : null
  draft.nextAt = earliest([entryAt, fallbackAt, round.nextShiftAt()])
  draft.sequences = round.state
  const isLastResort = round.state.isLastResort && !wasLastResort
  return {
    incident: draft,
    notifications: context.parts.flatMap(({ notifications }) => notifications),
    withdrawn: [...context.parts.flatMap(({ withdrawn }) => withdrawn), ...round.withdrawn],
    decision: decisionOf(context, isLastResort),
    personal: round.notifications,
    isLastResort,
  }
}

/** Notifies the person to whom the incident was assigned. The plan continues at once if that person is not reached. */
function notifyAssignee(draft: Incident, facts: Facts, now: Micros, plan: Plan): Decided {
  const person = draft.sequences?.reassigned ?? null
  const alertAt = person === null ? (draft.alertAt ?? now) : beginWait(draft, now)
  const round = new SequenceRound(draft, facts, { alertAt, now })
  if (person !== null) {
    round.withdrawn.push(...unsentOf(peopleOf(facts).notifications))
    // Fallbacks have the number after the last step.
    const origin = { step: plan.steps.length + 1, repeat: 0, reason: 'REASSIGNED', start: now - alertAt } as const
    round.start({ person }, origin)
  }
  round.sendDue()
  draft.sequences = round.state
  if (round.isAssigneeLost()) endWait(draft, now)
  const resumesAt = draft.sequences.resumesAt ?? null
  draft.suppression = null
  draft.evaluatedAt = now
  draft.nextAt = resumesAt === null ? now + 1 : earliest([alertAt + resumesAt, round.nextEntryAt()])
  const decision = decisionOf({ draft, parts: [], round }, false)
  const { notifications: personal, withdrawn } = round
  return { incident: draft, notifications: [], withdrawn, decision, personal }
}

function sendSteps(context: Context): PlanNow {
  const { draft, facts, now, alertAt, plan, round, before, parts } = context
  const unreached = new Set<number>()
  for (;;) {
    const at = { passed: now - alertAt, skips: draft.skips, severity: facts.severity, now }
    const current = readPlan(plan, { ...at, notified: round.state.started })
    const notifiedBefore = draft.notified
    const part = sendStep(draft, facts, now, { ...before, unreached })
    parts.push(part)
    for (const due of current.due.toSorted((a, b) => a.offset - b.offset)) startStep(context, due, part, unreached)
    // After a grouping delay: the people of these steps were notified before.
    for (const [index, entries] of draft.notified.entries()) {
      const isDue = current.due.some(({ step }) => step === index)
      if (isDue || entries !== 1 || (notifiedBefore[index] ?? 0) > 0) continue
      context.sent.add(index)
      const isNotified = part.notifications.some(({ detail }) => detail?.step === index)
      if (!isNotified && !round.state.list.some(({ step }) => step === index)) continue
      context.reached.add(index)
      draft.firstStep ??= index
    }
    for (const { step, reason } of current.skipped) round.skip(plan.steps[step]?.people ?? [], reason)
    round.state.started = current.notified
    const lost = lostStep(context)
    if (lost === null) return current
    const notified = plan.steps.map((_, index) => Math.max(draft.notified[index] ?? 0, current.notified[index] ?? 0))
    const next = lost === plan.steps.length ? null : furtherStep(plan, { notified, severity: facts.severity })
    if (next === null) sendBeyond(context)
    // A step outside its hours is not sent at once.
    if (next === null || unreached.has(next)) return current
    unreached.add(next)
    const missing = (stepOffsets(plan)[next] ?? 0) - (now - alertAt) - broughtForward(next, draft)
    if (missing > 0) draft.skips = withSkip(draft.skips, next, missing)
  }
}

function startStep(
  { draft, facts, now, alertAt, plan, round, before, sent, reached }: Context,
  due: StepInstance,
  { notifications }: Decided,
  unreached: ReadonlySet<number>,
): void {
  const step = plan.steps[due.step]
  if (!step) return
  const isGrouping = draft.suppression === 'GROUPING'
  const planned = due.offset - broughtForward(due.step, draft)
  const passed = now - alertAt
  const reason = reasonOf(due, { before: { ...before, unreached }, wasSkipped: false }, facts.isInCycle)
  const name = isReleased(reason) ? suppressedByName(facts, before.suppressedBefore) : null
  const origin = {
    step: due.step,
    repeat: due.repeat,
    reason,
    ...(name !== null && { suppressedBy: name }),
    start: passed - planned > LATE_AFTER ? passed : planned,
  }
  const isPersonReached = step.people.map((target) => round.start(target, origin)).includes(true)
  const isIntegrationReached = notifications.some(({ detail }) => detail?.step === due.step)
  if (!isGrouping && (due.repeat === 0 || step.people.length > 0)) sent.add(due.step)
  if (isPersonReached || isIntegrationReached) reached.add(due.step)
  if (isPersonReached && !isGrouping) draft.firstStep ??= due.step
}

/** Returns the latest step that was sent, if it reached no person. */
function lostStep({ draft, facts, plan, round, parts, sent, reached }: Context): number | null {
  if (round.state.isLastResort || draft.suppression === 'GROUPING') return null
  const wasSent = (index: number) => Math.max(draft.notified[index] ?? 0, round.state.started[index] ?? 0) > 0
  const latest = round.state.isFallbackUsed
    ? plan.steps.length
    : plan.steps.findLastIndex((step, index) => wasSent(index) && isAtLeast(facts.severity, step.severity))
  if (latest < 0) return null
  if (!reached.has(latest)) return sent.has(latest) || round.isLost(latest) ? latest : null
  const isNotifiedNow = parts.some(({ notifications }) => notifications.length > 0)
  return round.isRestarted(latest) && !isNotifiedNow && round.isLost(latest) ? latest : null
}

/** After the last step: the fallback, or owners and managers if it reaches no person. */
function sendBeyond(context: Context): void {
  const { plan, round } = context
  if (plan.fallback && !round.state.isFallbackUsed && sendFallback(context)) return
  round.state.isLastResort = true
}

/** Sends the fallback some time after the last notification. Returns when it is due. */
function sendTimedFallback(context: Context): Micros | null {
  const { draft, now, plan, round } = context
  if (!plan.fallback || round.state.isFallbackUsed) return null
  const at = (draft.exhaustedAt ?? now) + microsOfSeconds(plan.fallback.wait)
  if (at > now) return at
  sendBeyond(context)
  round.sendDue()
  return null
}

function sendFallback({ draft, facts, now, alertAt, plan, round, parts, sent, reached }: Context): boolean {
  const { people = [], channels: named = [] } = plan.fallback ?? {}
  const step = plan.steps.length
  round.state.isFallbackUsed = true
  const notifications: NewNotification[] = []
  const channels: IntegrationDecision[] = []
  for (const integration of facts.integrations.filter(({ uuid }) => named.includes(uuid))) {
    const { id: integrationId, uuid: id } = integration
    const refused = refusalOf(integration, 'down')
    channels.push({ id, outcome: refused ? 'skipped' : 'notified', reason: refused ?? 'FALLBACK' })
    if (refused) continue
    const entry = MANUAL_ENTRIES + Math.floor(toSeconds(now - draft.downAt))
    const detail = { step, repeat: 0, reason: 'FALLBACK', dueAt: now } as const
    notifications.push({ integrationId, what: 'first', status: 'down', flipId: null, entry, detail })
  }
  const origin = { step, repeat: 0, reason: 'FALLBACK', start: now - alertAt } as const
  const isPersonReached = people.map((target) => round.start(target, origin)).includes(true)
  const isReached = isPersonReached || notifications.length > 0
  const outcome = notifications.length > 0 ? 'notified' : 'none'
  const decision: Decision = { outcome, reason: 'FALLBACK', detail: {}, until: null, channels }
  parts.push({ incident: draft, notifications, withdrawn: [], decision })
  sent.add(step)
  if (isReached) reached.add(step)
  return isReached
}

/** The end of a snooze also notifies the person who snoozed. */
function remindSnoozer({ draft, facts, now, alertAt, round, before }: Context): void {
  const { snoozedBy } = before
  if (before.ackEnd !== 'SNOOZE_ENDED' || snoozedBy == null) return
  if (!facts.people?.people.some(({ address }) => address === snoozedBy)) return
  const step = Math.max(
    0,
    (draft.notified ?? []).findLastIndex((entries) => entries > 0),
  )
  round.start({ person: snoozedBy }, { step, repeat: 0, reason: 'SNOOZE_ENDED', start: now - alertAt })
}

function decisionOf(
  { draft, parts, round }: Pick<Context, 'draft' | 'parts' | 'round'>,
  isLastResort: boolean,
): Decision | null {
  const decisions = parts.flatMap(({ decision }) => decision ?? [])
  const channels = new Map(decisions.flatMap((decision) => decision.channels).map((one) => [one.id, one]))
  const common = { until: draft.nextAt, channels: [...channels.values()], people: round.decisions }
  const notified = decisions.find(({ outcome }) => outcome === 'notified')
  if (notified) return { ...notified, ...common }
  const detail = round.notifications[0]?.detail
  if (detail) {
    const { step, repeat, reason, name } = detail
    const shown = { step, repeat, ...(name !== undefined && { name }) }
    return { outcome: 'notified', reason, detail: shown, ...common }
  }
  if (isLastResort) return { outcome: 'notified', reason: 'LAST_RESORT', detail: {}, ...common }
  const [first] = round.decisions
  if (first) return { outcome: first.outcome, reason: first.reason, detail: {}, ...common }
  const last = decisions.findLast(({ reason }) => reason !== 'NO_INTEGRATIONS' && reason !== 'FALLBACK')
  return last ? { ...last, people: [] } : null
}
