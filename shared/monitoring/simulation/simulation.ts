import { type Micros, microsOfSeconds } from '../../time.ts'
import { decide } from '../alerting/decide.ts'
import { GATHERED_SECONDS, inDigest } from '../alerting/digest.ts'
import { MOST_FINISHES } from '../alerting/failures.ts'
import { blindGates, maintenanceGates } from '../alerting/gates.ts'
import type { Decided, FactChannel, Facts, Incident, NewTelling, Telling } from '../alerting/incident.ts'
import { channelsOf } from '../alerting/plan.ts'
import { IMPLICIT_PLAN, type Severity } from '../alerting/policy.ts'
import { heldByParents } from '../dependencies/hold.ts'
import { NOTICE } from '../gaps/judge.ts'
import type { Window } from '../windows/window.ts'
import { Crowd, type Outage } from './crowd.ts'
import type { ParentHistory } from './parent-history.ts'
import type { Simulated, SimulatedDecision, SimulatedMessage } from './simulated.ts'
import { type Happening, type Truth, VirtualCheck } from './virtual-check.ts'

/** An integration that may be told. */
export interface SimulatedChannel extends FactChannel {
  /** takes a message about many checks */
  isReader: boolean
}

/** What is played in virtual time; what lies before `from` brings the check into its state. */
export interface SimulationInput extends Truth {
  check: Truth['check'] & { uuid: string; tags: readonly string[] }
  policy: Facts['policy']
  severity: Severity
  channels: readonly SimulatedChannel[]
  windows: readonly Window[]
  /** what it depends on; null when on nothing */
  parents: ParentHistory | null
  /** when other checks of the policy were down */
  crowd: readonly Outage[]
  /** the project wants notices of checks that a gap made unknown */
  tellsUnknown: boolean
  from: Micros
  until: Micros
}

/** Steps of one simulation: signals, deadlines and looks at the incident. */
const MOST_STEPS = 10_000
const IMPLICIT_POLICY = { id: null, version: 0, plan: IMPLICIT_PLAN }
const GATHERED: Micros = microsOfSeconds(GATHERED_SECONDS)

/**
 * Plays what happens to one check in virtual time, with the functions that production uses: its status, gaps of ours, what
 * it depends on, and who is told; messages are delivered at once. Other checks are what they were recorded to be. Nothing is
 * stored or sent, and nothing here knows a clock. Stepped, so that it holds nobody up.
 */
export class Simulation {
  readonly #result: Simulated = { flips: [], messages: [], decisions: [], truncated: false }
  readonly #input: SimulationInput
  readonly #truth: VirtualCheck
  readonly #crowd: Crowd
  readonly #playing = this.#play()
  readonly #flips: Micros[] = []
  #tellings: Telling[] = []
  #incident: Incident | null = null
  #last: string | null = null
  #notice: { at: Micros; since: Micros; expectedAt: Micros } | null = null
  #steps = 0
  #made = 0

  constructor(input: SimulationInput) {
    this.#input = input
    this.#truth = new VirtualCheck({ ...input, check: { ...input.check } })
    this.#crowd = new Crowd((input.policy ?? IMPLICIT_POLICY).plan, input.crowd)
  }

  /** Plays a piece of what comes next, at most one window of one look. @returns whether anything is left */
  step(): boolean {
    return !this.#playing.next().done
  }

  *#play(): Generator<undefined, void> {
    while (yield* this.#playNext()) yield
  }

  *#playNext(): Generator<undefined, boolean> {
    const [truthAt, lookAt, noticeAt] = [
      this.#truth.nextAt(),
      this.#lookAt(),
      this.#notice?.at ?? Number.POSITIVE_INFINITY,
    ]
    const at = Math.min(truthAt, lookAt, noticeAt)
    if (at > this.#input.until) return false
    if (++this.#steps > MOST_STEPS) {
      this.#result.truncated = true
      return false
    }
    if (truthAt === at) yield* this.#happen(this.#truth.step(at), at)
    else if (lookAt === at) yield* this.#look(null, at)
    else yield* this.#giveNotice(at)
    return true
  }

  /** What came of it, in the order of time. */
  result(): Simulated {
    const { from, until } = this.#input
    const messages = this.#result.messages.filter(({ at }) => at >= from && at <= until).sort((a, b) => a.at - b.at)
    return { ...this.#result, messages }
  }

  /** When the incident is looked at again: at its own time, and when what holds it may have changed. */
  #lookAt(): Micros {
    if (!this.#incident) return Number.POSITIVE_INFINITY
    const { nextAt, held, lookedAt } = this.#incident
    const isBelow = held === 'PARENT_DOWN' || held === 'PARENT_LATE'
    const changed = isBelow ? this.#input.parents?.nextChange(lookedAt ?? 0) : undefined
    return Math.min(nextAt ?? Number.POSITIVE_INFINITY, changed ?? Number.POSITIVE_INFINITY)
  }

  *#happen({ flip, isFailedAgain, excused }: Happening, now: Micros): Generator<undefined, void> {
    if (excused) {
      const { reason, at, gapFrom, alertAfter, deadline } = excused
      this.#decided(
        { outcome: 'excused', reason, detail: { from: gapFrom, until: at }, until: alertAfter, channels: [] },
        now,
      )
      const isLong = alertAfter === null || alertAfter > at + microsOfSeconds(NOTICE.soonSeconds)
      if (isLong && this.#input.tellsUnknown)
        this.#notice ??= { at: now + microsOfSeconds(NOTICE.afterSeconds), since: at, expectedAt: deadline }
    }
    if (isFailedAgain && this.#incident?.state === 'waiting') yield* this.#look(null, now)
    if (!flip) return
    const { from, to, reason } = flip.change
    if (to !== 'up' && to !== 'down') {
      // Paused, or resumed: its incident is over.
      if (this.#incident) yield* this.#look(null, now)
      return
    }
    if (flip.at >= this.#input.from) this.#result.flips.push({ at: flip.at, up: to === 'up' })
    this.#flips.push(flip.at)
    // Nobody is told that a new check came up.
    if (to === 'down' || from === 'down') yield* this.#look({ id: this.#flips.length, at: flip.at, to, reason }, now)
  }

  *#look(flip: Facts['flip'], now: Micros): Generator<undefined, void> {
    const { severity, channels, windows, gaps, parents } = this.#input
    const incident = this.#incident
    const downAt = incident?.downAt ?? flip?.at ?? now
    const { uuid } = this.#input.check
    const check = { ...this.#truth.check, uuid, id: 1, projectId: 1 }
    const above = parents && heldByParents(check, incident, parents.relativesAt(now), { downAt, now })
    const maintenance = yield* maintenanceGates(windows, this.#input.check, { since: incident?.lookedAt ?? now, now })
    const blind = blindGates(gaps, this.#truth.door)
    const isInWindow = maintenance.some(({ until }) => until !== null && until > now)
    const wasHeld = incident !== null && !incident.isDirect && incident.policyId === null
    const policy = this.#input.policy ?? (isInWindow || wasHeld || parents ? IMPLICIT_POLICY : null)
    const decided = decide(
      incident,
      {
        check,
        flip,
        recentFlips: this.#flips,
        policy,
        severity,
        finishes: this.#truth.finishes.slice(-MOST_FINISHES),
        channels,
        tellings: this.#tellings,
        gates: [...blind, ...maintenance, ...(above?.gate ? [above.gate] : [])],
        isInCycle: above?.isInCycle ?? false,
        groupOpensAt: policy?.plan.group.within ? this.#crowd.opensAt(incident?.alertAt ?? now) : null,
        newId: this.#newId(),
        previous: this.#last,
      },
      now,
    )
    this.#carryOut(decided, now)
  }

  #carryOut({ incident, tellings, withdrawn, decision }: Decided, now: Micros): void {
    this.#tellings = this.#tellings.map((it) =>
      withdrawn.includes(it.id) ? { ...it, state: 'suppressed', isReplaced: true } : it,
    )
    const alertAt = incident?.alertAt ?? now
    const size = incident?.policyId == null ? null : this.#crowd.sizeAt(alertAt, now)
    const digested = tellings.filter((telling) => this.#isDigested(telling, size))
    for (const telling of tellings) {
      if (!digested.includes(telling)) this.#tell(telling, { at: now, what: telling.what, size: 1 })
      else if (telling.status === 'down') this.#tell(telling, { at: now, what: 'digest', size: size ?? 1 })
      else {
        const recovered = this.#crowd.recoveredAt(alertAt, now, GATHERED)
        this.#tell(telling, { at: now + GATHERED, what: 'digest', size: recovered })
      }
    }
    const uuids = new Set(digested.map(({ channelId }) => this.#channel(channelId)?.uuid ?? ''))
    const said = inDigest(decision, uuids, digested.length === tellings.length)
    if (said) this.#decided(said, now)
    if (incident && incident.resolvedAt !== null) this.#last = incident.id
    this.#incident = incident && incident.resolvedAt === null ? incident : null
    if (!this.#incident) this.#tellings = []
  }

  #isDigested({ channelId, what }: NewTelling, size: number | null): boolean {
    if (!this.#channel(channelId)?.isReader) return false
    if (what === 'first' || what === 'repeat') return size !== null
    return what === 'recovery' && this.#tellings.some((it) => it.what === 'digest' && it.channelId === channelId)
  }

  #tell(
    { channelId, status, detail }: NewTelling,
    { at, what, size }: Pick<SimulatedMessage, 'at' | 'size'> & { what: NewTelling['what'] | 'digest' },
  ): void {
    this.#result.messages.push({ at, channel: this.#channel(channelId)?.uuid ?? '', what, status, detail, size })
    const sent = { state: 'delivered', attempts: 1, isReplaced: false } as const
    this.#tellings.push({ id: this.#newId(), channelId, what, status, step: detail?.step ?? null, ...sent })
  }

  /** It was expected while we could not hear it: that is said unless it was heard since, or was not expected at all. */
  *#giveNotice(at: Micros): Generator<undefined, void> {
    const notice = this.#notice
    this.#notice = null
    const { channels, policy, windows, check } = this.#input
    if (!notice || (this.#truth.heardAt ?? 0) > notice.since || this.#truth.check.status === 'down') return
    const { expectedAt } = notice
    const planned = yield* maintenanceGates(windows, check, { since: expectedAt, now: expectedAt })
    if (planned.length > 0) return
    const [first] = (policy ?? IMPLICIT_POLICY).plan.steps
    const told = first
      ? channelsOf(first, channels).filter(({ isDisabled, id }) => !isDisabled && this.#channel(id)?.isReader)
      : []
    if (told.length === 0) return
    for (const { uuid } of told) {
      this.#result.messages.push({ at, channel: uuid, what: 'unknown', status: 'down', detail: null, size: 1 })
    }
    const reason = 'UNKNOWN_NOTICE'
    const said = told.map(({ uuid: id }) => ({ id, outcome: 'told', reason }) as const)
    this.#decided({ outcome: 'told', reason, detail: {}, until: this.#truth.check.alertAfter, channels: said }, at)
  }

  #decided(decision: Omit<SimulatedDecision, 'at'>, at: Micros): void {
    if (at >= this.#input.from) this.#result.decisions.push({ ...decision, at })
  }

  #channel(id: number): SimulatedChannel | undefined {
    return this.#input.channels.find((channel) => channel.id === id)
  }

  /** Names of incidents and messages are nobody's but this simulation's. */
  #newId(): string {
    this.#made += 1
    return `00000000-0000-4000-8000-${String(this.#made).padStart(12, '0')}`
  }
}

/** The longest span that is simulated. */
export const LONGEST_SIMULATION: Micros = microsOfSeconds(93 * 86_400)
