import { type Micros, microsOfSeconds, toSeconds } from '../../time.ts'
import type {
  Decided,
  Decision,
  FactIntegration,
  Facts,
  Incident,
  IntegrationDecision,
  NewNotification,
} from './incident.ts'
import {
  broughtForward,
  deletedIntegrationsOf,
  integrationsOf,
  type PlanNow,
  readPlan,
  type StepInstance,
  withSkip,
} from './plan.ts'
import { type Plan, stepOffsets, usesPeople } from './policy.ts'
import type { NotifiedReason, PendingReason } from './reasons.ts'
import { isUnsent, MANUAL_ENTRIES, refusalOf } from './recovery.ts'

export interface Before {
  suppressedBefore: PendingReason | null
  ackEnd: 'ACK_EXPIRED' | 'SNOOZE_ENDED' | null
  /** step that a person requested */
  escalated: number | null
  /** steps that are sent early, because the step before reached no person */
  unreached?: ReadonlySet<number>
  /** address of the person whose snooze has ended */
  snoozedBy?: string | null
}

/** Sends one notification per integration. Changes `draft` in place. */
export function sendStep(draft: Incident, facts: Facts, now: Micros, before: Before): Decided {
  const plan = facts.policy?.plan
  const alertAt = draft.alertAt
  if (!plan || alertAt === null) return { incident: draft, notifications: [], withdrawn: [], decision: null }
  const wasSkipped = skipWait(draft, facts, plan, now - alertAt)
  const current = readPlan(plan, { ...draft, passed: now - alertAt, severity: facts.severity, now })
  const waits = groupingDelay(draft, facts, current, now)
  if (waits !== null) return wait(draft, facts, { reason: 'GROUPING', until: waits }, now)

  // After a suppression, lateness counts from the instant without that suppression.
  const wasSuppressed = before.suppressedBefore === 'MAINTENANCE' || before.suppressedBefore === 'PARENT_DOWN'
  const dueAt = ({ step, offset }: StepInstance) =>
    wasSuppressed ? draft.downAt + offset : alertAt + offset - broughtForward(step, draft)
  const isEarlier = ({ step }: StepInstance) => broughtForward(step, draft) > 0
  const suppressedBy = wasSuppressed ? suppressedByName(facts, before.suppressedBefore) : null
  const { notifications, integrations } = notificationsOf(current, facts, plan, {
    before,
    wasSkipped,
    dueAt,
    suppressedBy,
    isEarlier,
    uniqueEntry: (integrationId, what, entry) => {
      const isUsed = facts.notifications.some(
        (one) => one.integrationId === integrationId && one.what === what && one.entry === entry,
      )
      return isUsed ? MANUAL_ENTRIES + Math.floor(toSeconds(now - draft.downAt)) : entry
    },
  })
  const notified = notifications.map(({ integrationId }) => integrationId)
  const withdrawn = facts.notifications
    .filter(
      (notification) =>
        notification.status === 'down' && notified.includes(notification.integrationId) && isUnsent(notification),
    )
    .map(({ id }) => id)
  if (notifications.length > 0) draft.firstStep ??= Math.min(...current.due.map(({ step }) => step))
  const wasPending = draft.suppression
  draft.notified = current.notified
  draft.evaluatedAt = now
  draft.suppression = current.isOutsideHours && current.due.length === 0 ? 'OUTSIDE_HOURS' : null
  const nexts = [current.nextPassed === null ? null : alertAt + current.nextPassed, current.hoursAt]
  draft.nextAt = earliest(nexts)
  const decision = decisionOf(draft, current, notifications, integrations)
  const isNew =
    decision !== null && (decision.outcome !== 'suppressed' || wasPending !== decision.reason || facts.flip !== null)
  return { incident: draft, notifications, withdrawn, decision: isNew ? decision : null }
}

/** Skips the wait if every notification of the first step failed. Returns true if it did. */
function skipWait(draft: Incident, { notifications }: Facts, plan: Plan, passed: Micros): boolean {
  const { firstStep } = draft
  if (firstStep === null || usesPeople(plan)) return false
  const next = firstStep + 1
  const offset = stepOffsets(plan)[next]
  const elapsed = passed + broughtForward(next, draft)
  if (offset === undefined || (draft.notified[next] ?? 0) > 0 || elapsed >= offset) return false
  const sent = notifications.filter(({ step, isReplaced }) => step === firstStep && !isReplaced)
  const isLost = sent.length > 0 && sent.every(({ state }) => state === 'failed' || state === 'suppressed')
  if (isLost) draft.skips = withSkip(draft.skips, next, offset - elapsed)
  return isLost
}

/** Returns null if the first notification need not wait for other checks. */
function groupingDelay(
  draft: Incident,
  { policy, groupDelayEndsAt, integrations }: Facts,
  current: PlanNow,
  now: Micros,
): Micros | null {
  const within = policy?.plan.group.within ?? 0
  if (within === 0 || draft.firstStep !== null || current.due.length === 0 || policy?.id == null) return null
  // People do not wait for other checks.
  const isForPeopleOnly = current.due.every(({ step }) => {
    const due = policy.plan.steps[step]
    return due && due.people.length > 0 && integrationsOf(due, integrations).length === 0
  })
  if (isForPeopleOnly) return null
  const endsAt = groupDelayEndsAt ?? (draft.alertAt ?? now) + microsOfSeconds(within)
  return endsAt > now ? endsAt : null
}

function wait(
  draft: Incident,
  { flip }: Facts,
  { reason, until }: { reason: 'GROUPING'; until: Micros },
  now: Micros,
): Decided {
  const isNew = flip !== null || draft.suppression !== reason
  Object.assign(draft, { suppression: reason, evaluatedAt: now, nextAt: until } satisfies Partial<Incident>)
  const decision: Decision = { outcome: 'suppressed', reason, detail: {}, until, channels: [] }
  return { incident: draft, notifications: [], withdrawn: [], decision: isNew ? decision : null }
}

interface StepContext {
  before: Before
  wasSkipped: boolean
  dueAt: (due: StepInstance) => Micros
  isEarlier: (due: StepInstance) => boolean
  /** replaces an entry that a snooze or an escalation repeats */
  uniqueEntry: (integrationId: number, what: NewNotification['what'], entry: number) => number
  /** name of the window or parent that suppressed the incident until now */
  suppressedBy: string | null
}

/** Returns the name of the window or parent whose suppression ended last. */
export function suppressedByName(
  { suppressions }: Pick<Facts, 'suppressions'>,
  reason: PendingReason | null,
): string | null {
  const ended = suppressions.filter((one) => one.reason === reason && one.until !== null)
  return ended.sort((a, b) => (b.until ?? 0) - (a.until ?? 0))[0]?.detail?.name ?? null
}

function notificationsOf(current: PlanNow, facts: Facts, plan: Plan, context: StepContext) {
  const notifications = new Map<number, NewNotification>()
  const integrations = new Map<string, IntegrationDecision>()
  for (const { step, reason } of current.skipped) {
    const skipped = plan.steps[step]
    for (const { uuid } of skipped ? integrationsOf(skipped, facts.integrations) : []) {
      if (!integrations.has(uuid)) integrations.set(uuid, { id: uuid, outcome: 'skipped', reason })
    }
  }
  // If several steps notify an integration, the latest entry wins.
  for (const due of current.due.toSorted((a, b) => a.offset - b.offset)) {
    const step = plan.steps[due.step]
    if (!step) continue
    for (const uuid of deletedIntegrationsOf(step, facts.integrations)) {
      integrations.set(uuid, { id: uuid, outcome: 'skipped', reason: 'INTEGRATION_GONE' })
    }
    const reason = reasonOf(due, context, facts.isInCycle)
    for (const integration of integrationsOf(step, facts.integrations)) {
      const refused = refusalOf(integration, 'down') ?? reserveOf(integration, due)
      const isNotified = integrations.get(integration.uuid)?.outcome === 'notified'
      if (refused && isNotified) continue
      integrations.set(integration.uuid, {
        id: integration.uuid,
        outcome: refused ? 'skipped' : 'notified',
        reason: refused ?? reason,
      })
      if (!refused) notifications.set(integration.id, notificationOf(integration, due, reason, context))
    }
  }
  return { notifications: [...notifications.values()], integrations: [...integrations.values()] }
}

/** Repeats may use four fifths of a monthly limit, first notifications all of it. */
function reserveOf(integration: FactIntegration, { repeat }: StepInstance): 'MONTHLY_RESERVE' | null {
  return integration.isOverReserve && repeat > 0 ? 'MONTHLY_RESERVE' : null
}

function notificationOf(
  integration: FactIntegration,
  due: StepInstance,
  reason: NotifiedReason,
  { dueAt, suppressedBy, isEarlier, uniqueEntry }: StepContext,
): NewNotification {
  const what = due.repeat === 0 ? 'first' : 'repeat'
  // The sign separates a step that was brought forward from an earlier step with the same offset.
  const entry = Math.round(toSeconds(due.offset)) * (isEarlier(due) ? -1 : 1)
  return {
    integrationId: integration.id,
    what,
    status: 'down',
    flipId: null,
    entry: uniqueEntry(integration.id, what, entry),
    detail: {
      step: due.step,
      repeat: due.repeat,
      reason,
      dueAt: dueAt(due),
      ...(isReleased(reason) && suppressedBy !== null && { name: suppressedBy }),
    },
  }
}

/** Returns true if a maintenance window or a parent suppressed the step until now. */
export function isReleased(reason: NotifiedReason): boolean {
  return reason === 'WINDOW_ENDED' || reason === 'PARENT_UP'
}

export function reasonOf(
  { step, repeat }: StepInstance,
  { before, wasSkipped }: Pick<StepContext, 'before' | 'wasSkipped'>,
  isInCycle: boolean,
): NotifiedReason {
  if (before.escalated === step) return 'ESCALATED'
  if (before.ackEnd !== null) return before.ackEnd
  if (before.suppressedBefore === 'ACKNOWLEDGED') return 'ACK_EXPIRED'
  if (before.unreached?.has(step) && repeat === 0) return 'NOBODY_REACHED'
  if (wasSkipped && repeat === 0 && step > 0) return 'FIRST_STEP_FAILED'
  if (before.suppressedBefore === 'MAINTENANCE') return 'WINDOW_ENDED'
  if (before.suppressedBefore === 'PARENT_DOWN') return 'PARENT_UP'
  if (repeat > 0) return 'REPEAT'
  if (step > 0) return 'STEP'
  return isInCycle ? 'PARENT_CYCLE' : 'FIRST'
}

function decisionOf(
  draft: Incident,
  current: PlanNow,
  notifications: readonly NewNotification[],
  integrations: readonly IntegrationDecision[],
): Decision | null {
  const [first] = notifications
  if (first?.detail) {
    const { reason, step, repeat, name } = first.detail
    const detail = { step, repeat, ...(name !== undefined && { name }) }
    return { outcome: 'notified', reason, detail, until: draft.nextAt, channels: integrations }
  }
  if (draft.suppression === 'OUTSIDE_HOURS') {
    return {
      outcome: 'suppressed',
      reason: 'OUTSIDE_HOURS',
      detail: {},
      until: current.hoursAt,
      channels: integrations,
    }
  }
  const [skipped] = integrations
  if (skipped && skipped.outcome === 'skipped') {
    const reason = current.skipped[0]?.reason ?? skipped.reason
    return { outcome: 'skipped', reason, detail: {}, until: draft.nextAt, channels: integrations }
  }
  if (current.due.length === 0) return null
  return { outcome: 'none', reason: 'NO_INTEGRATIONS', detail: {}, until: draft.nextAt, channels: integrations }
}

export function earliest(instants: readonly (Micros | null)[]): Micros | null {
  const known = instants.filter((at) => at !== null)
  return known.length === 0 ? null : Math.min(...known)
}
