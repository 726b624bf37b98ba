import { type Micros, microsOfSeconds } from '../../time.ts'
import { applySignal, type CheckMachine, type Signal, sweep } from '../checks/state-machine.ts'
import { nextOccurrence } from '../schedules/schedule.ts'
import { isAbout, timesOf, type Window } from '../windows/window.ts'
import { decide } from './decide.ts'
import { type Finish, MOST_FINISHES } from './failures.ts'
import type { Decision, FactChannel, Facts, Gate, Incident, NewTelling, Telling } from './incident.ts'
import { IMPLICIT_PLAN, type Severity } from './policy.ts'

/** What is played in virtual time. */
export interface SimulationInput {
  check: CheckMachine & { uuid: string; tags: readonly string[] }
  /** ascending; what lies before `from` brings the check into its state */
  signals: readonly Signal[]
  policy: Facts['policy']
  severity: Severity
  channels: readonly FactChannel[]
  windows: readonly Window[]
  from: Micros
  until: Micros
}

/** A message that would be sent. */
export interface SimulatedMessage extends Pick<NewTelling, 'what' | 'status' | 'detail'> {
  at: Micros
  /** uuid */
  channel: string
}

/** What would have come of it. */
export interface Simulated {
  flips: { at: Micros; up: boolean }[]
  messages: SimulatedMessage[]
  decisions: (Decision & { at: Micros })[]
  /** it took more steps than a simulation may */
  truncated: boolean
}

/** Steps of one simulation: signals, deadlines and looks at the incident. */
const MOST_STEPS = 10_000
const IMPLICIT_POLICY = { id: null, version: 0, plan: IMPLICIT_PLAN }

/**
 * Plays signals, deadlines and decisions of one check in virtual time, with the functions that production uses; messages
 * are delivered at once. Nothing is stored or sent, and nothing here knows a clock. Stepped, so that it holds nobody up.
 */
export class Simulation {
  readonly result: Simulated = { flips: [], messages: [], decisions: [], truncated: false }
  readonly #input: SimulationInput
  readonly #check: CheckMachine
  readonly #finishes: Finish[] = []
  readonly #flips: Micros[] = []
  #tellings: Telling[] = []
  #incident: Incident | null = null
  #last: string | null = null
  #signal = 0
  #steps = 0
  #made = 0

  constructor(input: SimulationInput) {
    this.#input = input
    this.#check = { ...input.check }
  }

  /** Plays what comes next. @returns whether anything is left */
  step(): boolean {
    const { signals, until } = this.#input
    const signal = signals[this.#signal]
    const { alertAfter } = this.#check
    const signalAt = signal?.at ?? Number.POSITIVE_INFINITY
    const deadline = alertAfter === null ? Number.POSITIVE_INFINITY : alertAfter + 1
    const lookAt = this.#incident?.nextAt ?? Number.POSITIVE_INFINITY
    const at = Math.min(signalAt, deadline, lookAt)
    if (at > until) return false
    if (++this.#steps > MOST_STEPS) {
      this.result.truncated = true
      return false
    }
    // A ping that came before the deadline always wins.
    if (signal && signalAt === at) this.#hear(signal)
    else if (deadline === at) this.#sweep(at)
    else this.#look(null, at)
    return true
  }

  #hear(signal: Signal): void {
    this.#signal += 1
    const { type, flip } = applySignal(this.#check, signal, nextOccurrence)
    if (type === 'success' || type === 'fail') this.#finishes.push({ at: signal.at, ok: type === 'success' })
    if (flip) this.#change(signal.at, flip, signal.at)
    else if (type === 'fail' && this.#incident?.state === 'waiting') this.#look(null, signal.at)
  }

  #sweep(now: Micros): void {
    const decision = sweep(this.#check, now, nextOccurrence)
    this.#check.alertAfter = decision.kind === 'look-again' ? decision.alertAfter : null
    if (decision.kind !== 'down') return
    this.#check.status = 'down'
    this.#change(decision.at, decision.flip, now)
  }

  #change(at: Micros, flip: { from: string; to: string; reason: '' | 'fail' | 'timeout' }, now: Micros): void {
    const { from, to, reason } = flip
    if (to !== 'up' && to !== 'down') return
    if (at >= this.#input.from) this.result.flips.push({ at, up: to === 'up' })
    this.#flips.push(at)
    // Nobody is told that a new check came up.
    if (to === 'down' || from === 'down') this.#look({ id: this.#flips.length, at, to, reason }, now)
  }

  #look(flip: Facts['flip'], now: Micros): void {
    const { policy, severity, channels } = this.#input
    const gates = this.#gatesAt(now)
    const isHeld = gates.some(({ until }) => until !== null && until > now)
    const wasHeld = this.#incident !== null && !this.#incident.isDirect && this.#incident.policyId === null
    const decided = decide(
      this.#incident,
      {
        check: { ...this.#check, id: 1, projectId: 1 },
        flip,
        recentFlips: this.#flips,
        policy: policy ?? (isHeld || wasHeld ? IMPLICIT_POLICY : null),
        severity,
        finishes: this.#finishes.slice(-MOST_FINISHES),
        channels,
        tellings: this.#tellings,
        gates,
        isInCycle: false,
        groupOpensAt: null,
        newId: this.#newId(),
        previous: this.#last,
      },
      now,
    )
    this.#tellings = this.#tellings.map((it) =>
      decided.withdrawn.includes(it.id) ? { ...it, state: 'suppressed', isReplaced: true } : it,
    )
    for (const telling of decided.tellings) this.#tell(telling, now)
    if (decided.decision && now >= this.#input.from) this.result.decisions.push({ ...decided.decision, at: now })
    this.#keep(decided.incident)
  }

  #tell({ channelId, what, status, detail }: NewTelling, at: Micros): void {
    const channel = this.#input.channels.find(({ id }) => id === channelId)?.uuid ?? ''
    if (at >= this.#input.from) this.result.messages.push({ at, channel, what, status, detail })
    const sent = { state: 'delivered', attempts: 1, isReplaced: false } as const
    this.#tellings.push({ id: this.#newId(), channelId, what, status, step: detail?.step ?? null, ...sent })
  }

  #keep(incident: Incident | null): void {
    if (incident && incident.resolvedAt !== null) this.#last = incident.id
    this.#incident = incident && incident.resolvedAt === null ? incident : null
    if (!this.#incident) this.#tellings = []
  }

  #gatesAt(now: Micros): Gate[] {
    const { check, windows } = this.#input
    const since = this.#incident?.lookedAt ?? now
    return windows
      .filter((window) => isAbout(window, check))
      .flatMap((window) =>
        timesOf(window, since, now + 1).map(
          ({ from, until }): Gate => ({
            reason: 'MAINTENANCE',
            since: from,
            until,
            detail: { window: window.uuid, name: window.name },
          }),
        ),
      )
  }

  /** Names of incidents and messages are nobody's but this simulation's. */
  #newId(): string {
    this.#made += 1
    return `00000000-0000-4000-8000-${String(this.#made).padStart(12, '0')}`
  }
}

/** The longest span that is simulated. */
export const LONGEST_SIMULATION: Micros = microsOfSeconds(93 * 86_400)

/** The first word of a message's subject: `DOWN`, `STILL DOWN (2)`, `FLAPPING`, `UP`. */
export function simulatedWord({ what, status, detail }: SimulatedMessage): string {
  if (what === 'flapping') return 'FLAPPING'
  if (what === 'repeat') return `STILL DOWN (${(detail?.repeat ?? 0) + 1})`
  return status.toUpperCase()
}
