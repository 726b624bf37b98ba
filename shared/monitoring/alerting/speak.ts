import { type Micros, microsOfSeconds, toSeconds } from '../../time.ts'
import type {
  ChannelDecision,
  Decided,
  Decision,
  FactChannel,
  Facts,
  HeldReason,
  Incident,
  NewTelling,
  ToldReason,
} from './incident.ts'
import { broughtForward, channelsOf, goneFrom, type PlanNow, readPlan, type Speaking } from './plan.ts'
import { type Plan, stepOffsets } from './policy.ts'
import { isUnsent, refusalOf } from './recovery.ts'

/** What the evaluation has found out before the plan speaks. */
interface Before {
  heldBefore: HeldReason | null
  /** an acknowledgement ended by itself just now */
  wasAcknowledged: boolean
}

/**
 * Lets the plan of an incident speak that nothing holds: all that is due makes one telling per integration. CHANGES THE
 * GIVEN INCIDENT.
 */
export function speak(draft: Incident, facts: Facts, now: Micros, before: Before): Decided {
  const plan = facts.policy?.plan
  const alertAt = draft.alertAt
  if (!plan || alertAt === null) return { incident: draft, tellings: [], withdrawn: [], decision: null }
  const isEscalated = skipWait(draft, facts, plan, now - alertAt)
  const current = readPlan(plan, { ...draft, passed: now - alertAt, severity: facts.severity, now })
  const waits = groupingHold(draft, facts, current, now)
  if (waits !== null) return wait(draft, facts, { reason: 'GROUPING', until: waits }, now)

  // What was held is late since it would have been said without the hold.
  const wasGated = before.heldBefore === 'MAINTENANCE' || before.heldBefore === 'PARENT_DOWN'
  const dueAt = ({ step, offset }: Speaking) =>
    wasGated ? draft.downAt + offset : alertAt + offset - broughtForward(step, draft)
  const isEarlier = ({ step }: Speaking) => broughtForward(step, draft) > 0
  const heldBy = wasGated ? heldByName(facts, before.heldBefore) : null
  const { tellings, channels } = tellingsOf(current, facts, plan, { before, isEscalated, dueAt, heldBy, isEarlier })
  const told = tellings.map(({ channelId }) => channelId)
  const withdrawn = facts.tellings
    .filter((telling) => telling.status === 'down' && told.includes(telling.channelId) && isUnsent(telling))
    .map(({ id }) => id)
  if (tellings.length > 0) draft.firstStep ??= Math.min(...current.speaking.map(({ step }) => step))
  const wasHeld = draft.held
  draft.told = current.told
  draft.lookedAt = now
  draft.held = current.isOutsideHours && current.speaking.length === 0 ? 'OUTSIDE_HOURS' : null
  const nexts = [current.nextPassed === null ? null : alertAt + current.nextPassed, current.hoursAt]
  draft.nextAt = earliest(nexts)
  const decision = decisionOf(draft, current, tellings, channels)
  const isNew = decision !== null && (decision.outcome !== 'held' || wasHeld !== decision.reason || facts.flip !== null)
  return { incident: draft, tellings, withdrawn, decision: isNew ? decision : null }
}

/** Nobody was reached by the step that spoke first: the wait of the next one is skipped. @returns whether it was */
function skipWait(draft: Incident, { tellings }: Facts, plan: Plan, passed: Micros): boolean {
  const { firstStep } = draft
  if (firstStep === null) return false
  const next = firstStep + 1
  const offset = stepOffsets(plan)[next]
  const elapsed = passed + draft.skipped
  if (offset === undefined || (draft.told[next] ?? 0) > 0 || elapsed >= offset) return false
  const spoken = tellings.filter(({ step, isReplaced }) => step === firstStep && !isReplaced)
  const isLost = spoken.length > 0 && spoken.every(({ state }) => state === 'failed' || state === 'suppressed')
  if (isLost) draft.skipped += offset - elapsed
  return isLost
}

/** First tellings wait for those of other checks. @returns until when; null when there is nothing to wait for */
function groupingHold(draft: Incident, { policy, groupOpensAt }: Facts, current: PlanNow, now: Micros): Micros | null {
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
  const isNew = flip !== null || draft.held !== reason
  Object.assign(draft, { held: reason, lookedAt: now, nextAt: until } satisfies Partial<Incident>)
  const decision: Decision = { outcome: 'held', reason, detail: {}, until, channels: [] }
  return { incident: draft, tellings: [], withdrawn: [], decision: isNew ? decision : null }
}

interface Speech {
  before: Before
  isEscalated: boolean
  dueAt: (speaking: Speaking) => Micros
  isEarlier: (speaking: Speaking) => boolean
  /** name of the window or the check that held it until now */
  heldBy: string | null
}

/** What ended last of that which held the incident: its name, where it is still known. */
function heldByName({ gates }: Facts, reason: HeldReason | null): string | null {
  const ended = gates.filter((gate) => gate.reason === reason && gate.until !== null)
  return ended.sort((a, b) => (b.until ?? 0) - (a.until ?? 0))[0]?.detail?.name ?? null
}

function tellingsOf(current: PlanNow, facts: Facts, plan: Plan, speech: Speech) {
  const tellings = new Map<number, NewTelling>()
  const channels = new Map<string, ChannelDecision>()
  for (const { step, reason } of current.silent) {
    const silent = plan.steps[step]
    for (const { uuid } of silent ? channelsOf(silent, facts.channels) : []) {
      if (!channels.has(uuid)) channels.set(uuid, { id: uuid, outcome: 'skipped', reason })
    }
  }
  // The latest entry is what an integration hears of, when several steps speak to it.
  for (const speaking of current.speaking.toSorted((a, b) => a.offset - b.offset)) {
    const step = plan.steps[speaking.step]
    if (!step) continue
    for (const uuid of goneFrom(step, facts.channels)) {
      channels.set(uuid, { id: uuid, outcome: 'skipped', reason: 'CHANNEL_GONE' })
    }
    const reason = reasonOf(speaking, speech, facts.isInCycle)
    for (const channel of channelsOf(step, facts.channels)) {
      const refused = refusalOf(channel, 'down') ?? reserveOf(channel, speaking)
      const isTold = channels.get(channel.uuid)?.outcome === 'told'
      if (refused && isTold) continue
      channels.set(channel.uuid, { id: channel.uuid, outcome: refused ? 'skipped' : 'told', reason: refused ?? reason })
      if (!refused) tellings.set(channel.id, tellingOf(channel, speaking, reason, speech))
    }
  }
  return { tellings: [...tellings.values()], channels: [...channels.values()] }
}

/** Repeats may use four fifths of a monthly limit, first tellings all of it. */
function reserveOf(channel: FactChannel, { repeat }: Speaking): 'MONTHLY_RESERVE' | null {
  return channel.isOverReserve && repeat > 0 ? 'MONTHLY_RESERVE' : null
}

function tellingOf(
  channel: FactChannel,
  speaking: Speaking,
  reason: ToldReason,
  { dueAt, heldBy, isEarlier }: Speech,
): NewTelling {
  const isReleased = reason === 'WINDOW_ENDED' || reason === 'PARENT_UP'
  return {
    channelId: channel.id,
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
function reasonOf({ step, repeat }: Speaking, { before, isEscalated }: Speech, isInCycle: boolean): ToldReason {
  if (before.wasAcknowledged || before.heldBefore === 'ACKNOWLEDGED') return 'ACK_EXPIRED'
  if (isEscalated && repeat === 0 && step > 0) return 'NOBODY_REACHED'
  if (before.heldBefore === 'MAINTENANCE') return 'WINDOW_ENDED'
  if (before.heldBefore === 'PARENT_DOWN') return 'PARENT_UP'
  if (repeat > 0) return 'REPEAT'
  if (step > 0) return 'STEP'
  return isInCycle ? 'PARENT_CYCLE' : 'FIRST'
}

function decisionOf(
  draft: Incident,
  current: PlanNow,
  tellings: readonly NewTelling[],
  channels: readonly ChannelDecision[],
): Decision | null {
  const [first] = tellings
  if (first?.detail) {
    const { reason, step, repeat, name } = first.detail
    const detail = { step, repeat, ...(name !== undefined && { name }) }
    return { outcome: 'told', reason, detail, until: draft.nextAt, channels }
  }
  if (draft.held === 'OUTSIDE_HOURS') {
    return { outcome: 'held', reason: 'OUTSIDE_HOURS', detail: {}, until: current.hoursAt, channels }
  }
  const [skipped] = channels
  if (skipped && skipped.outcome === 'skipped') {
    const reason = current.silent[0]?.reason ?? skipped.reason
    return { outcome: 'skipped', reason, detail: {}, until: draft.nextAt, channels }
  }
  if (current.speaking.length === 0) return null
  return { outcome: 'none', reason: 'NO_CHANNELS', detail: {}, until: draft.nextAt, channels }
}

function earliest(instants: readonly (Micros | null)[]): Micros | null {
  const known = instants.filter((at) => at !== null)
  return known.length === 0 ? null : Math.min(...known)
}
