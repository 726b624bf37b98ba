import { type Micros, microsOfSeconds } from '../../time.ts'
import { gateAt, settlesAt } from './gates.ts'
import type {
  ChannelDecision,
  Decided,
  Decision,
  FactChannel,
  Facts,
  Gate,
  Incident,
  NewTelling,
  SkippedReason,
} from './incident.ts'
import { channelsOf } from './plan.ts'
import { isAtLeast, type Step } from './policy.ts'
import { isUnsent, refusalOf } from './recovery.ts'
import { endOfRecurring } from './recurring.ts'

/** Whether a flip is one too many within the time that the policy watches (alerting 1). */
export function startsToFlap(draft: Incident, { flip, policy, recentFlips }: Facts): boolean {
  const rule = policy?.plan.flapping
  if (!flip || !rule || draft.flapping) return false
  const since = flip.at - microsOfSeconds(rule.within)
  return recentFlips.filter((at) => at > since && at <= flip.at).length >= rule.changes
}

/**
 * One telling in place of the change that is too much, then silence until one state has lasted. What holds a telling holds
 * this one too: an acknowledgement, maintenance, a parent that is down; and a step that is for worse checks or outside of its
 * hours says nothing. CHANGES THE GIVEN INCIDENT.
 */
export function tellFlapping(draft: Incident, facts: Facts, now: Micros): Decided {
  draft.flapping = true
  draft.lookedAt = now
  draft.held = 'SETTLING'
  draft.nextAt = settlesAt(draft, facts)
  const gate = gateOf(draft, facts, now)
  const channels: ChannelDecision[] = []
  const tellings: NewTelling[] = []
  for (const channel of gate || draft.state === 'acknowledged' ? [] : wantedOf(draft, facts)) {
    const reason = refusalOf(channel, 'down') ?? silenceOf(channel, draft, facts, now)
    channels.push(
      reason
        ? { id: channel.uuid, outcome: 'skipped', reason }
        : { id: channel.uuid, outcome: 'told', reason: 'FLAPPING' },
    )
    if (reason) continue
    const { id: channelId } = channel
    tellings.push({ channelId, what: 'flapping', status: 'down', flipId: null, entry: draft.flips, detail: null })
  }
  const isTold = tellings.length > 0
  if (isTold) {
    draft.alertAt ??= now
    if (draft.state === 'waiting') draft.state = 'alerting'
    draft.firstStep ??= 0
    // It takes the place of the first telling; where nobody was told the plan still begins with that one.
    if (draft.told.length === 0) draft.told = [1]
  }
  const withdrawn = facts.tellings
    .filter(({ status }) => status === 'down')
    .filter(isUnsent)
    .map(({ id }) => id)
  const decision: Decision = {
    outcome: isTold ? 'told' : 'held',
    reason: isTold ? 'FLAPPING' : (gate?.reason ?? 'SETTLING'),
    detail: isTold || !gate ? { changes: facts.recentFlips.length } : (gate.detail ?? {}),
    until: draft.nextAt,
    channels,
  }
  return { incident: draft, tellings, withdrawn, decision }
}

/** What holds messages of the incident that is not a state of its own. */
function gateOf({ firstStep }: Incident, { gates }: Facts, now: Micros): Gate | null {
  return gateAt(
    gates.filter(({ reason }) => reason !== 'BLIND' || firstStep !== null),
    now,
  )
}

/** The steps that a flapping check speaks by: the first, and those that have spoken. */
function spokenSteps(draft: Incident, { policy }: Facts): Step[] {
  return (policy?.plan.steps ?? []).filter((_, index) => index === 0 || (draft.told[index] ?? 0) > 0)
}

function wantedOf(draft: Incident, facts: Facts): Set<FactChannel> {
  const before = new Set(facts.tellings.map(({ channelId }) => channelId))
  return new Set([
    ...spokenSteps(draft, facts)
      .slice(0, 1)
      .flatMap((step) => channelsOf(step, facts.channels)),
    ...facts.channels.filter(({ id }) => before.has(id)),
  ])
}

/** Why every step that speaks to an integration is silent; null when one is not. */
function silenceOf(channel: FactChannel, draft: Incident, facts: Facts, now: Micros): SkippedReason | null {
  const steps = spokenSteps(draft, facts).filter((step) => channelsOf(step, [channel]).length > 0)
  const severe = steps.filter((step) => isAtLeast(facts.severity, step.severity))
  if (severe.length === 0) return steps.length === 0 ? null : 'BELOW_SEVERITY'
  const isOpen = severe.some(({ hours }) => hours.length === 0 || endOfRecurring(hours, now) !== null)
  return isOpen ? null : 'OUTSIDE_HOURS'
}
