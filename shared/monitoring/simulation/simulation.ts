import { type Micros, microsOfSeconds } from '../../time.ts'
import { decide } from '../alerting/decide.ts'
import { GATHERED_SECONDS, inDigest } from '../alerting/digest.ts'
import { MAX_RESULTS } from '../alerting/failures.ts'
import type {
  AlertNotification,
  Decided,
  FactIntegration,
  Facts,
  Incident,
  NewNotification,
  PersonalNotification,
  PersonalRow,
} from '../alerting/incident.ts'
import { integrationsOf } from '../alerting/plan.ts'
import { IMPLICIT_PLAN, type Severity } from '../alerting/policy.ts'
import { maintenanceSuppressions, outageSuppressions } from '../alerting/suppressions.ts'
import { NOTICE } from '../availability/evaluate-absence.ts'
import type { Window } from '../maintenance/window.ts'
import { suppressedByParents } from '../rules/parent-suppression.ts'
import { CheckGroup, type Outage } from './check-group.ts'
import type { ParentHistory } from './parent-history.ts'
import { lastResortMail, type Simulated, type SimulatedDecision, type SimulatedMessage } from './simulated.ts'
import { peopleAt, recipientOf, type SimulatedPeople } from './simulated-people.ts'
import { type Happening, type Truth, VirtualCheck } from './virtual-check.ts'

export interface SimulatedIntegration extends FactIntegration {
  isReader: boolean
}

/** Events before `from` only bring the check into its state. */
export interface SimulationInput extends Truth {
  check: Truth['check'] & { uuid: string; tags: readonly string[] }
  policy: Facts['policy']
  severity: Severity
  integrations: readonly SimulatedIntegration[]
  /** null if the policy notifies no persons */
  people: SimulatedPeople | null
  /** addresses that get a mail if no person is reached; none if mail is off */
  managers?: readonly string[]
  windows: readonly Window[]
  parents: ParentHistory | null
  otherOutages: readonly Outage[]
  /** the project is notified of checks that became unknown in a gap */
  notifiesUnknown: boolean
  from: Micros
  until: Micros
}

const MAX_STEPS = 10_000
const IMPLICIT_POLICY = { id: null, version: 0, plan: IMPLICIT_PLAN }
const GATHERED: Micros = microsOfSeconds(GATHERED_SECONDS)

/**
 * Uses the functions of production. Messages count as delivered at once; other checks behave as recorded. Stores and
 * sends nothing and reads no clock. Runs in steps, so that it does not block the event loop.
 */
export class Simulation {
  readonly #result: Simulated = { flips: [], messages: [], decisions: [], truncated: false }
  readonly #input: SimulationInput
  readonly #truth: VirtualCheck
  readonly #checkGroup: CheckGroup
  readonly #playing = this.#play()
  readonly #flips: Micros[] = []
  #notifications: AlertNotification[] = []
  #personal: PersonalRow[] = []
  #incident: Incident | null = null
  #last: string | null = null
  #notice: { at: Micros; since: Micros; expectedAt: Micros } | null = null
  #steps = 0
  #made = 0

  constructor(input: SimulationInput) {
    this.#input = input
    this.#truth = new VirtualCheck({ ...input, check: { ...input.check } })
    this.#checkGroup = new CheckGroup((input.policy ?? IMPLICIT_POLICY).plan, input.otherOutages)
  }

  /** A step is at most one maintenance window. Returns false at the end. */
  step(): boolean {
    return !this.#playing.next().done
  }

  *#play(): Generator<undefined, void> {
    while (yield* this.#playNext()) yield
  }

  *#playNext(): Generator<undefined, boolean> {
    const [truthAt, evaluateAt, noticeAt] = [
      this.#truth.nextAt(),
      this.#evaluateAt(),
      this.#notice?.at ?? Number.POSITIVE_INFINITY,
    ]
    const at = Math.min(truthAt, evaluateAt, noticeAt)
    if (at > this.#input.until) return false
    if (++this.#steps > MAX_STEPS) {
      this.#result.truncated = true
      return false
    }
    if (truthAt === at) yield* this.#happen(this.#truth.step(at), at)
    else if (evaluateAt === at) yield* this.#evaluate(null, at)
    else yield* this.#giveNotice(at)
    return true
  }

  result(): Simulated {
    const { from, until } = this.#input
    const messages = this.#result.messages.filter(({ at }) => at >= from && at <= until).sort((a, b) => a.at - b.at)
    return { ...this.#result, messages }
  }

  /** At its own time, or when a parent that suppresses it may have changed. */
  #evaluateAt(): Micros {
    if (!this.#incident) return Number.POSITIVE_INFINITY
    const { nextAt, suppression, evaluatedAt } = this.#incident
    const isBelow = suppression === 'PARENT_DOWN' || suppression === 'PARENT_LATE'
    const changed = isBelow ? this.#input.parents?.nextChange(evaluatedAt ?? 0) : undefined
    return Math.min(nextAt ?? Number.POSITIVE_INFINITY, changed ?? Number.POSITIVE_INFINITY)
  }

  *#happen({ flip, isFailedAgain, extended }: Happening, now: Micros): Generator<undefined, void> {
    if (extended) {
      const { reason, at, gapFrom, alertAfter, deadline } = extended
      this.#decided(
        { outcome: 'deadline_extended', reason, detail: { from: gapFrom, until: at }, until: alertAfter, channels: [] },
        now,
      )
      const isLong = alertAfter === null || alertAfter > at + microsOfSeconds(NOTICE.soonSeconds)
      if (isLong && this.#input.notifiesUnknown)
        this.#notice ??= { at: now + microsOfSeconds(NOTICE.afterSeconds), since: at, expectedAt: deadline }
    }
    if (isFailedAgain && this.#incident?.state === 'waiting') yield* this.#evaluate(null, now)
    if (!flip) return
    const { from, to, reason } = flip.change
    if (to !== 'up' && to !== 'down') {
      // A pause or its end resolves the incident.
      if (this.#incident) yield* this.#evaluate(null, now)
      return
    }
    if (flip.at >= this.#input.from) this.#result.flips.push({ at: flip.at, up: to === 'up' })
    this.#flips.push(flip.at)
    // The first success of a new check triggers no notification.
    if (to === 'down' || from === 'down')
      yield* this.#evaluate({ id: this.#flips.length, at: flip.at, to, reason }, now)
  }

  *#evaluate(flip: Facts['flip'], now: Micros): Generator<undefined, void> {
    const { severity, integrations, windows, gaps, parents } = this.#input
    const incident = this.#incident
    const downAt = incident?.downAt ?? flip?.at ?? now
    const { uuid } = this.#input.check
    const check = { ...this.#truth.check, uuid, id: 1, projectId: 1 }
    const above = parents && suppressedByParents(check, incident, parents.relativesAt(now), { downAt, now })
    const maintenance = yield* maintenanceSuppressions(windows, this.#input.check, {
      since: incident?.evaluatedAt ?? now,
      now,
    })
    const outages = outageSuppressions(gaps, this.#truth.listener)
    const isInWindow = maintenance.some(({ until }) => until !== null && until > now)
    const wasPending = incident !== null && !incident.isDirect && incident.policyId === null
    const policy = this.#input.policy ?? (isInWindow || wasPending || parents ? IMPLICIT_POLICY : null)
    const decided = decide(
      incident,
      {
        check,
        flip,
        recentFlips: this.#flips,
        policy,
        severity,
        recentResults: this.#truth.results.slice(-MAX_RESULTS),
        integrations,
        notifications: this.#notifications,
        suppressions: [...outages, ...maintenance, ...(above?.suppression ? [above.suppression] : [])],
        people: peopleAt(this.#input.people, this.#personal, now),
        isInCycle: above?.isInCycle ?? false,
        groupDelayEndsAt: policy?.plan.group.within ? this.#checkGroup.delayEndsAt(incident?.alertAt ?? now) : null,
        newId: this.#newId(),
        previous: this.#last,
      },
      now,
    )
    this.#carryOut(decided, now)
  }

  #carryOut(decided: Decided, now: Micros): void {
    const { incident, notifications, withdrawn, decision, personal = [], isLastResort = false } = decided
    const replaced = <T extends AlertNotification | PersonalRow>(row: T): T =>
      withdrawn.includes(row.id) ? { ...row, state: 'suppressed', isReplaced: true } : row
    this.#notifications = this.#notifications.map(replaced)
    this.#personal = this.#personal.map(replaced)
    const alertAt = incident?.alertAt ?? now
    const size = incident?.policyId == null ? null : this.#checkGroup.sizeAt(alertAt, now)
    const digested = notifications.filter((notification) => this.#isDigested(notification, size))
    for (const notification of notifications) {
      if (!digested.includes(notification)) this.#notify(notification, { at: now, what: notification.what, size: 1 })
      else if (notification.status === 'down') this.#notify(notification, { at: now, what: 'digest', size: size ?? 1 })
      else {
        const recovered = this.#checkGroup.recoveredAt(alertAt, now, GATHERED)
        this.#notify(notification, { at: now + GATHERED, what: 'digest', size: recovered })
      }
    }
    for (const notification of personal) this.#notifyPerson(notification, now)
    for (const person of isLastResort ? (this.#input.managers ?? []) : [])
      this.#result.messages.push(lastResortMail(person, now))
    const uuids = new Set(digested.map(({ integrationId }) => this.#integration(integrationId)?.uuid ?? ''))
    const stored = inDigest(decision, uuids, digested.length === notifications.length)
    if (stored) this.#decided(stored, now)
    if (incident && incident.resolvedAt !== null) this.#last = incident.id
    this.#incident = incident && incident.resolvedAt === null ? incident : null
    if (this.#incident) return
    this.#notifications = []
    this.#personal = []
  }

  #isDigested({ integrationId, what }: NewNotification, size: number | null): boolean {
    if (!this.#integration(integrationId)?.isReader) return false
    if (what === 'first' || what === 'repeat') return size !== null
    return (
      what === 'recovery' &&
      this.#notifications.some((it) => it.what === 'digest' && it.integrationId === integrationId)
    )
  }

  #notify(
    { integrationId, status, detail, entry }: NewNotification,
    { at, what, size }: Pick<SimulatedMessage, 'at' | 'size'> & { what: NewNotification['what'] | 'digest' },
  ): void {
    this.#result.messages.push({
      at,
      integration: this.#integration(integrationId)?.uuid ?? '',
      recipient: null,
      what,
      status,
      detail,
      size,
    })
    const sent = { state: 'delivered', attempts: 1, isReplaced: false } as const
    this.#notifications.push({
      id: this.#newId(),
      ...{ integrationId, what, status, entry },
      step: detail?.step ?? null,
      ...sent,
    })
  }

  #notifyPerson(notification: PersonalNotification, at: Micros): void {
    const recipient = recipientOf(this.#input.people, notification)
    if (!recipient) return
    const { after: _, flipId: __, detail, ...common } = notification
    const { what, status } = common
    this.#result.messages.push({ at, integration: null, recipient, what, status, detail, size: 1 })
    const sent = { state: 'delivered', attempts: 1, isReplaced: false } as const
    this.#personal.push({ id: this.#newId(), ...common, step: detail?.step ?? null, ...sent })
  }

  /** Skips checks that pinged since or were in maintenance. */
  *#giveNotice(at: Micros): Generator<undefined, void> {
    const notice = this.#notice
    this.#notice = null
    const { integrations, policy, windows, check } = this.#input
    if (!notice || (this.#truth.heardAt ?? 0) > notice.since || this.#truth.check.status === 'down') return
    const { expectedAt } = notice
    const planned = yield* maintenanceSuppressions(windows, check, { since: expectedAt, now: expectedAt })
    if (planned.length > 0) return
    const [first] = (policy ?? IMPLICIT_POLICY).plan.steps
    const notified = first
      ? integrationsOf(first, integrations).filter(
          ({ isDisabled, id }) => !isDisabled && this.#integration(id)?.isReader,
        )
      : []
    if (notified.length === 0) return
    for (const { uuid } of notified) {
      const message = { at, integration: uuid, recipient: null, status: 'down', detail: null, size: 1 } as const
      this.#result.messages.push({ ...message, what: 'unknown' })
    }
    const reason = 'UNKNOWN_NOTICE'
    const outcomes = notified.map(({ uuid: id }) => ({ id, outcome: 'notified', reason }) as const)
    const until = this.#truth.check.alertAfter
    this.#decided({ outcome: 'notified', reason, detail: {}, until, channels: outcomes }, at)
  }

  #decided(decision: Omit<SimulatedDecision, 'at'>, at: Micros): void {
    if (at >= this.#input.from) this.#result.decisions.push({ ...decision, at })
  }

  #integration(id: number): SimulatedIntegration | undefined {
    return this.#input.integrations.find((integration) => integration.id === id)
  }

  #newId(): string {
    this.#made += 1
    return `00000000-0000-4000-8000-${String(this.#made).padStart(12, '0')}`
  }
}

export const MAX_SIMULATION: Micros = microsOfSeconds(93 * 86_400)
