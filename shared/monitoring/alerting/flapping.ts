import { type Micros, microsOfSeconds } from '../../time.ts'
import type {
  Decided,
  Decision,
  FactIntegration,
  Facts,
  Incident,
  IntegrationDecision,
  NewNotification,
  Suppression,
} from './incident.ts'
import { notifyFlappingPeople } from './personal.ts'
import { endOfRecurring, integrationsOf } from './plan.ts'
import { isAtLeast, type Step } from './policy.ts'
import type { SkippedReason } from './reasons.ts'
import { isUnsent, refusalOf } from './recovery.ts'
import { settlesAt, suppressionAt } from './suppressions.ts'

/** See docs/spec/alerting.md#policies. */
export function startsToFlap(draft: Incident, { flip, policy, recentFlips }: Facts): boolean {
  const rule = policy?.plan.flapping
  if (!flip || !rule || draft.flapping) return false
  const since = flip.at - microsOfSeconds(rule.within)
  return recentFlips.filter((at) => at > since && at <= flip.at).length >= rule.changes
}

/** Suppressions, acknowledgements, severity and hours apply to this notification too. Changes `draft` in place. */
export function notifyFlapping(draft: Incident, facts: Facts, now: Micros): Decided {
  draft.flapping = true
  draft.evaluatedAt = now
  draft.suppression = 'SETTLING'
  draft.nextAt = settlesAt(draft, facts)
  const suppression = suppressionOf(draft, facts, now)
  const integrations: IntegrationDecision[] = []
  const notifications: NewNotification[] = []
  for (const integration of suppression || draft.state === 'acknowledged' ? [] : wantedOf(draft, facts)) {
    const reason = refusalOf(integration, 'down') ?? skipReasonOf(integration, draft, facts, now)
    integrations.push(
      reason
        ? { id: integration.uuid, outcome: 'skipped', reason }
        : { id: integration.uuid, outcome: 'notified', reason: 'FLAPPING' },
    )
    if (reason) continue
    const { id: integrationId } = integration
    notifications.push({
      integrationId,
      what: 'flapping',
      status: 'down',
      flipId: null,
      entry: draft.flips,
      detail: null,
    })
  }
  const isSilent = suppression !== null || draft.state === 'acknowledged'
  const personal = isSilent ? [] : notifyFlappingPeople(draft, facts, now)
  const isNotified = notifications.length + personal.length > 0
  if (isNotified) {
    draft.alertAt ??= now
    if (draft.state === 'waiting') draft.state = 'alerting'
    draft.firstStep ??= 0
    // The flapping notification replaces the first step; if it was not sent, the plan still begins with that step.
    if (draft.notified.length === 0 && notifications.length > 0) draft.notified = [1]
  }
  const withdrawn = facts.notifications
    .filter(({ status }) => status === 'down')
    .filter(isUnsent)
    .map(({ id }) => id)
  const decision: Decision = {
    outcome: isNotified ? 'notified' : 'suppressed',
    reason: isNotified ? 'FLAPPING' : (suppression?.reason ?? 'SETTLING'),
    detail: isNotified || !suppression ? { changes: facts.recentFlips.length } : (suppression.detail ?? {}),
    until: draft.nextAt,
    channels: integrations,
  }
  return { incident: draft, notifications, withdrawn, decision, personal }
}

/** COVERAGE_GAP never delays the first notification. */
function suppressionOf({ firstStep }: Incident, { suppressions }: Facts, now: Micros): Suppression | null {
  return suppressionAt(
    suppressions.filter(({ reason }) => reason !== 'COVERAGE_GAP' || firstStep !== null),
    now,
  )
}

function notifiedSteps(draft: Incident, { policy }: Facts): Step[] {
  return (policy?.plan.steps ?? []).filter((_, index) => index === 0 || (draft.notified[index] ?? 0) > 0)
}

function wantedOf(draft: Incident, facts: Facts): Set<FactIntegration> {
  const before = new Set(facts.notifications.map(({ integrationId }) => integrationId))
  return new Set([
    ...notifiedSteps(draft, facts)
      .slice(0, 1)
      .flatMap((step) => integrationsOf(step, facts.integrations)),
    ...facts.integrations.filter(({ id }) => before.has(id)),
  ])
}

function skipReasonOf(integration: FactIntegration, draft: Incident, facts: Facts, now: Micros): SkippedReason | null {
  const steps = notifiedSteps(draft, facts).filter((step) => integrationsOf(step, [integration]).length > 0)
  const severe = steps.filter((step) => isAtLeast(facts.severity, step.severity))
  if (severe.length === 0) return steps.length === 0 ? null : 'BELOW_SEVERITY'
  const isOpen = severe.some(({ hours }) => hours.length === 0 || endOfRecurring(hours, now) !== null)
  return isOpen ? null : 'OUTSIDE_HOURS'
}
