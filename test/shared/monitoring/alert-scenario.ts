import { decide } from '#shared/monitoring/alerting/decide.ts'
import { decideAct, type IncidentAct } from '#shared/monitoring/alerting/decide-act.ts'
import type {
  AlertNotification,
  Decision,
  FactIntegration,
  Facts,
  Incident,
  PeopleFacts,
  PersonalNotification,
  PersonalRow,
  Suppression,
} from '#shared/monitoring/alerting/incident.ts'
import { furtherStep } from '#shared/monitoring/alerting/plan.ts'
import { IMPLICIT_PLAN, type Plan, type Severity } from '#shared/monitoring/alerting/policy.ts'
import { NO_SEQUENCES } from '#shared/monitoring/alerting/sequences.ts'

export const SECOND = 1_000_000
/** 2026-11-22T10:00:00Z, microseconds. */
export const START = Date.UTC(2026, 10, 22, 10) * 1000

export interface ScenarioOptions {
  /** null: direct notification */
  plan?: Partial<Plan> | null
  severity?: Severity
  channels?: readonly Partial<FactIntegration>[]
  /** default: delivered */
  outcome?: (integrationId: number, at: number) => AlertNotification['state']
  suppressions?: (now: number) => readonly Suppression[]
  /** delay of an evaluation, microseconds */
  late?: () => number
  /** the persons on call and the rules of all persons */
  people?: (now: number) => Pick<PeopleFacts, 'schedules' | 'people'>
  /** of a notification to a contact method; default: delivered */
  personalOutcome?: (method: string, at: number) => AlertNotification['state']
  /** number of crashes before a commit, and if there is one after it */
  crashes?: () => { before: number; after: boolean }
}

export interface Message {
  /** seconds since the start */
  at: number
  integration: number
  what: string
  step: number | null
  repeat: number | null
  reason: string | null
}

export interface PersonalMessage {
  /** seconds since the start */
  at: number
  user: number
  method: string
  what: string
  entry: number
  step: number | null
  reason: string | null
  /** of the window or parent that suppressed it until now */
  name: string | null
}

/** Simulates one check in virtual time and collects the notifications of `decide`. */
export class Scenario {
  readonly messages: Message[] = []
  readonly personal: PersonalMessage[] = []
  /** seconds since the start of each mail to owners and managers */
  readonly lastResorts: number[] = []
  readonly personalRows: (PersonalRow & { incidentId: string | null })[] = []
  readonly decisions: (Decision & { at: number })[] = []
  /** all incidents in their last state */
  readonly incidents: Incident[] = []
  readonly notifications: (AlertNotification & { incidentId: string | null })[] = []
  incident: Incident | null = null
  now = START
  status: 'new' | 'up' | 'down' | 'paused' = 'up'
  policy: Facts['policy']
  readonly results: { at: number; ok: boolean }[] = []
  readonly #options: ScenarioOptions
  readonly #integrations: FactIntegration[]
  readonly #flips: number[] = []

  constructor(options: ScenarioOptions = {}) {
    this.#options = options
    this.#integrations = (options.channels ?? [{}]).map((integration, index) => ({
      id: index + 1,
      uuid: uuidOf(index + 1),
      isOwn: true,
      isDisabled: false,
      ignores: { up: false, down: false },
      keepsRecord: false,
      isOverReserve: false,
      isReader: true,
      ...integration,
    }))
    this.policy = options.plan === null ? null : { id: 1, version: 1, plan: { ...IMPLICIT_PLAN, ...options.plan } }
  }

  /** Changes the status of the check. @param seconds since the start */
  flip(to: 'up' | 'down', seconds: number): this {
    this.until(seconds)
    this.status = to
    this.results.push({ at: this.now, ok: to === 'up' })
    this.#flips.push(this.now)
    this.evaluate({ id: this.#flips.length, at: this.now, to, reason: to === 'down' ? 'fail' : '' })
    return this
  }

  /** Advances the time and evaluates the incident when it is due. */
  until(seconds: number): this {
    const end = START + seconds * SECOND
    for (;;) {
      const due = this.incident?.nextAt ?? null
      const at = due === null ? null : Math.max(due + (this.#options.late?.() ?? 0), this.now)
      if (at === null || at > end) break
      if (at === this.now && this.incident?.evaluatedAt === at)
        throw new Error('the evaluation repeats at the same instant')
      this.now = at
      this.evaluate(null)
    }
    this.now = Math.max(this.now, end)
    return this
  }

  /** Acknowledges the incident. @param until seconds since the start, as if the policy had a timeout */
  ack(until: number | null = null): this {
    const ackTimeout = until === null ? null : until - (this.now - START) / SECOND
    return this.act({ kind: 'ack', by: 'anna', via: 'api', seconds: null }, ackTimeout)
  }

  unack(): this {
    return this.act({ kind: 'unack' })
  }

  snooze(seconds: number): this {
    return this.act({ kind: 'ack', by: 'anna', via: 'api', seconds })
  }

  /** Assigns the incident to a person, who is notified. @param to address */
  assign(to: string): this {
    return this.act({ kind: 'assign', to, notify: true })
  }

  escalate(): this {
    return this.act({ kind: 'escalate' })
  }

  /** Acts on the incident as an operation does, then evaluates it. Ignores conflicts. */
  act(act: IncidentAct, ackTimeout: number | null = null): this {
    const { incident, policy } = this
    if (!incident) throw new Error('no incident is open')
    const hasFurtherStep = policy !== null && furtherStep(policy.plan, incident) !== null
    const acted = decideAct({ ...incident, assignee: null }, act, { now: this.now, ackTimeout, hasFurtherStep })
    if ('conflict' in acted || !acted.changed) return this
    const { assignee, reassigned, ...changed } = acted.changed
    const sequences = reassigned
      ? { ...(incident.sequences ?? { ...NO_SEQUENCES, started: incident.notified }), reassigned }
      : incident.sequences
    this.incident = { ...incident, ...changed, sequences }
    this.evaluate(null)
    return this
  }

  /** Evaluates the check as the alerter does, with crashes. */
  evaluate(flip: Facts['flip']): void {
    const { before = 0, after = false } = this.#options.crashes?.() ?? {}
    for (let deaths = before; deaths > 0; deaths--) {
      // The decision was not stored, so another alerter processes the flip some seconds later.
      this.#decide(flip)
      this.now += (1 + deaths) * SECOND
    }
    this.#store(this.#decide(flip))
    // The decision was stored, so the next alerter evaluates an incident that was just evaluated.
    if (after && this.incident) this.#store(this.#decide(null))
  }

  #decide(flip: Facts['flip']): ReturnType<typeof decide> {
    const { incident } = this
    const facts: Facts = {
      check: { id: 1, projectId: 1, status: this.status, ...SCHEDULE },
      flip,
      recentFlips: [...this.#flips],
      policy: this.policy,
      severity: this.#options.severity ?? 'critical',
      recentResults: this.results.slice(-64),
      integrations: this.#integrations,
      notifications: this.notifications.filter((notification) => notification.incidentId === incident?.id),
      suppressions: this.#options.suppressions?.(this.now) ?? [],
      people: this.#people(),
      isInCycle: false,
      groupDelayEndsAt: null,
      newId: uuidOf(1000 + this.incidents.length),
      previous: this.incidents.at(-1)?.id ?? null,
    }
    return decide(incident, facts, this.now)
  }

  #people(): PeopleFacts | null {
    const { incident } = this
    const loaded = this.#options.people?.(this.now)
    const notifications = this.personalRows.filter((row) => row.incidentId === incident?.id)
    return loaded ? { ...loaded, notifications } : null
  }

  /** Returns true if a notification ended failed or suppressed. */
  #storePersonal(notifications: readonly PersonalNotification[], incidentId: string | null): boolean {
    let isLost = false
    for (const { userId, methodId, what, status, entry, detail } of notifications) {
      const state = this.#options.personalOutcome?.(methodId, this.now) ?? 'delivered'
      const at = (this.now - START) / SECOND
      const step = detail?.step ?? null
      const { reason = null, name = null } = detail ?? {}
      this.personal.push({ at, user: userId, method: methodId, what, entry, step, reason, name })
      const attempts = state === 'delivered' || state === 'failed' ? 1 : 0
      const id = uuidOf(20_000 + this.personalRows.length)
      const sent = { id, incidentId, userId, methodId, what, status, entry, step, state, attempts, isReplaced: false }
      this.personalRows.push(sent)
      isLost ||= state === 'failed' || state === 'suppressed'
    }
    return isLost
  }

  #store(decided: ReturnType<typeof decide>): void {
    this.#storeIncident(decided.incident)
    for (const notification of [...this.notifications, ...this.personalRows]) {
      if (decided.withdrawn.includes(notification.id))
        Object.assign(notification, { state: 'suppressed', isReplaced: true })
    }
    for (const notification of decided.notifications) {
      const state = this.#options.outcome?.(notification.integrationId, this.now) ?? 'delivered'
      this.messages.push({
        at: (this.now - START) / SECOND,
        integration: notification.integrationId,
        what: notification.what === 'flip' ? notification.status : notification.what,
        step: notification.detail?.step ?? null,
        repeat: notification.detail?.repeat ?? null,
        reason: notification.detail?.reason ?? null,
      })
      this.notifications.push({
        id: uuidOf(10_000 + this.notifications.length),
        incidentId: decided.incident?.id ?? null,
        integrationId: notification.integrationId,
        what: notification.what,
        status: notification.status,
        entry: notification.entry,
        step: notification.detail?.step ?? null,
        state,
        attempts: state === 'delivered' || state === 'failed' ? 1 : 0,
        isReplaced: false,
      })
    }
    const isPersonalLost = this.#storePersonal(decided.personal ?? [], decided.incident?.id ?? null)
    if (decided.isLastResort) this.lastResorts.push((this.now - START) / SECOND)
    if (decided.decision) this.decisions.push({ ...decided.decision, at: (this.now - START) / SECOND })
    // A failed notification makes its incident due.
    const isLost = decided.notifications.some(({ integrationId }) => {
      const state = this.#options.outcome?.(integrationId, this.now)
      return state === 'failed' || state === 'suppressed'
    })
    if ((isLost || isPersonalLost) && this.incident) {
      this.now += SECOND
      this.evaluate(null)
    }
  }

  #storeIncident(incident: Incident | null): void {
    if (!incident) return
    const index = this.incidents.findIndex(({ id }) => id === incident.id)
    if (index === -1) this.incidents.push(incident)
    else this.incidents[index] = incident
    this.incident = incident.resolvedAt === null ? incident : null
  }

  /** Returns `10:1:first` for each message: seconds, integration, type. */
  get sent(): string[] {
    return this.messages.map(({ at, integration, what }) => `${at}:${integration}:${what}`)
  }
}

const SCHEDULE = { kind: 'simple', timeoutSeconds: 60, graceSeconds: 60, schedule: '', tz: 'UTC' } as const

export function uuidOf(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
}
