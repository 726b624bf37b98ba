import { type Micros, microsOfSeconds, toSeconds } from '../../time.ts'
import type {
  Decided,
  Decision,
  FactIntegration,
  Facts,
  Incident,
  IntegrationDecision,
  NewNotification,
  NotifiedReason,
  PendingReason,
} from './incident.ts'
import { broughtForward, goneFrom, integrationsOf, type PlanNow, readPlan, type StepInstance } from './plan.ts'
import { type Plan, stepOffsets } from './policy.ts'
import { isUnsent, refusalOf } from './recovery.ts'

/** What the evaluation has found out before the plan speaks. */
interface Before {
  suppressedBefore: PendingReason | null
  /** an acknowledgement ended by itself just now */
  wasAcknowledged: boolean
}

/**
 * Lets the plan of an incident speak that nothing holds: all that is due makes one telling per integration. CHANGES THE
 * GIVEN INCIDENT.
 */
export function sendStep(draft: Incident, facts: Facts, now: Micros, before: Before): Decided {
  const plan = facts.policy?.plan
  const alertAt = draft.alertAt
  if (!plan || alertAt === null) return { incident: draft, notifications: [], withdrawn: [], decision: null }
  const isEscalated = skipWait(draft, facts, plan, now - alertAt)
  const current = readPlan(plan, { ...draft, passed: now - alertAt, severity: facts.severity, now })
  const waits = groupingDelay(draft, facts, current, now)
  if (waits !== null) return wait(draft, facts, { reason: 'GROUPING', until: waits }, now)

  // What was held is late since it would have been said without the hold.
  const wasSuppressed = before.suppressedBefore === 'MAINTENANCE' || before.suppressedBefore === 'PARENT_DOWN'
  const dueAt = ({ step, offset }: StepInstance) =>
    wasSuppressed ? draft.downAt + offset : alertAt + offset - broughtForward(step, draft)
  const isEarlier = ({ step }: StepInstance) => broughtForward(step, draft) > 0
  const heldBy = wasSuppressed ? suppressedByName(facts, before.suppressedBefore) : null
  const { notifications, channels } = notificationsOf(current, facts, plan, {
    before,
    isEscalated,
    dueAt,
    heldBy,
    isEarlier,
  })
  const notified = notifications.map(({ integrationId }) => integrationId)
  const withdrawn = facts.notifications
    .filter(
      (notification) =>
        notification.status === 'down' && notified.includes(notification.integrationId) && isUnsent(notification),
    )
    .map(({ id }) => id)
  if (notifications.length > 0) draft.firstStep ??= Math.min(...current.speaking.map(({ step }) => step))
  const wasPending = draft.suppression
  draft.notified = current.notified
  draft.evaluatedAt = now
  draft.suppression = current.isOutsideHours && current.speaking.length === 0 ? 'OUTSIDE_HOURS' : null
  const nexts = [current.nextPassed === null ? null : alertAt + current.nextPassed, current.hoursAt]
  draft.nextAt = earliest(nexts)
  const decision = decisionOf(draft, current, notifications, channels)
  const isNew =
    decision !== null && (decision.outcome !== 'suppressed' || wasPending !== decision.reason || facts.flip !== null)
  return { incident: draft, notifications, withdrawn, decision: isNew ? decision : null }
}

/** Nobody was reached by the step that spoke first: the wait of the next one is skipped. @returns whether it was */
function skipWait(draft: Incident, { notifications }: Facts, plan: Plan, passed: Micros): boolean {
  const { firstStep } = draft
  if (firstStep === null) return false
  const next = firstStep + 1
  const offset = stepOffsets(plan)[next]
  const elapsed = passed + draft.skipped
  if (offset === undefined || (draft.notified[next] ?? 0) > 0 || elapsed >= offset) return false
  const spoken = notifications.filter(({ step, isReplaced }) => step === firstStep && !isReplaced)
  const isLost = spoken.length > 0 && spoken.every(({ state }) => state === 'failed' || state === 'suppressed')
  if (isLost) draft.skipped += offset - elapsed
  return isLost
}

/** First tellings wait for those of other checks. @returns until when; null when there is nothing to wait for */
function groupingDelay(draft: Incident, { policy, groupOpensAt }: Facts, current: PlanNow, now: Micros): Micros | null {
  const within = policy?.plan.group.within ?? 0
  if (within === 0 || draft.firstStep !== null || current.speaking.length === 0 || policy?.id == null) return null
  const opensAt = groupOpensAt ?? (draft.alertAt ?? now) + microsOfSeconds(within)
  return opensAt > now ? opensAt : null
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

interface Speech {
  before: Before
  isEscalated: boolean
  dueAt: (speaking: StepInstance) => Micros
  isEarlier: (speaking: StepInstance) => boolean
  /** name of the window or the check that held it until now */
  heldBy: string | null
}

/** What ended last of that which held the incident: its name, where it is still known. */
function suppressedByName({ gates }: Facts, reason: PendingReason | null): string | null {
  const ended = gates.filter((gate) => gate.reason === reason && gate.until !== null)
  return ended.sort((a, b) => (b.until ?? 0) - (a.until ?? 0))[0]?.detail?.name ?? null
}

function notificationsOf(current: PlanNow, facts: Facts, plan: Plan, speech: Speech) {
  const notifications = new Map<number, NewNotification>()
  const channels = new Map<string, IntegrationDecision>()
  for (const { step, reason } of current.silent) {
    const silent = plan.steps[step]
    for (const { uuid } of silent ? integrationsOf(silent, facts.channels) : []) {
      if (!channels.has(uuid)) channels.set(uuid, { id: uuid, outcome: 'skipped', reason })
    }
  }
  // The latest entry is what an integration hears of, when several steps speak to it.
  for (const speaking of current.speaking.toSorted((a, b) => a.offset - b.offset)) {
    const step = plan.steps[speaking.step]
    if (!step) continue
    for (const uuid of goneFrom(step, facts.channels)) {
      channels.set(uuid, { id: uuid, outcome: 'skipped', reason: 'INTEGRATION_GONE' })
    }
    const reason = reasonOf(speaking, speech, facts.isInCycle)
    for (const channel of integrationsOf(step, facts.channels)) {
      const refused = refusalOf(channel, 'down') ?? reserveOf(channel, speaking)
      const isNotified = channels.get(channel.uuid)?.outcome === 'notified'
      if (refused && isNotified) continue
      channels.set(channel.uuid, {
        id: channel.uuid,
        outcome: refused ? 'skipped' : 'notified',
        reason: refused ?? reason,
      })
      if (!refused) notifications.set(channel.id, notificationOf(channel, speaking, reason, speech))
    }
  }
  return { notifications: [...notifications.values()], channels: [...channels.values()] }
}

/** Repeats may use four fifths of a monthly limit, first tellings all of it. */
function reserveOf(channel: FactIntegration, { repeat }: StepInstance): 'MONTHLY_RESERVE' | null {
  return channel.isOverReserve && repeat > 0 ? 'MONTHLY_RESERVE' : null
}

function notificationOf(
  channel: FactIntegration,
  speaking: StepInstance,
  reason: NotifiedReason,
  { dueAt, heldBy, isEarlier }: Speech,
): NewNotification {
  const isReleased = reason === 'WINDOW_ENDED' || reason === 'PARENT_UP'
  return {
    integrationId: channel.id,
    what: speaking.repeat === 0 ? 'first' : 'repeat',
    status: 'down',
    flipId: null,
    // Steps that were brought forward have entries of their own: one of an earlier step may have the same offset, and another time.
    entry: Math.round(toSeconds(speaking.offset)) * (isEarlier(speaking) ? -1 : 1),
    detail: {
      step: speaking.step,
      repeat: speaking.repeat,
      reason,
      dueAt: dueAt(speaking),
      ...(isReleased && heldBy !== null && { name: heldBy }),
    },
  }
}

/** @param isInCycle only a ring of parents is above it, which holds nobody */
function reasonOf({ step, repeat }: StepInstance, { before, isEscalated }: Speech, isInCycle: boolean): NotifiedReason {
  if (before.wasAcknowledged || before.suppressedBefore === 'ACKNOWLEDGED') return 'ACK_EXPIRED'
  if (isEscalated && repeat === 0 && step > 0) return 'FIRST_STEP_FAILED'
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
  channels: readonly IntegrationDecision[],
): Decision | null {
  const [first] = notifications
  if (first?.detail) {
    const { reason, step, repeat, name } = first.detail
    const detail = { step, repeat, ...(name !== undefined && { name }) }
    return { outcome: 'notified', reason, detail, until: draft.nextAt, channels }
  }
  if (draft.suppression === 'OUTSIDE_HOURS') {
    return { outcome: 'suppressed', reason: 'OUTSIDE_HOURS', detail: {}, until: current.hoursAt, channels }
  }
  const [skipped] = channels
  if (skipped && skipped.outcome === 'skipped') {
    const reason = current.silent[0]?.reason ?? skipped.reason
    return { outcome: 'skipped', reason, detail: {}, until: draft.nextAt, channels }
  }
  if (current.speaking.length === 0) return null
  return { outcome: 'none', reason: 'NO_INTEGRATIONS', detail: {}, until: draft.nextAt, channels }
}

function earliest(instants: readonly (Micros | null)[]): Micros | null {
  const known = instants.filter((at) => at !== null)
  return known.length === 0 ? null : Math.min(...known)
}
