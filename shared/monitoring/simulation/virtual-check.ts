import type { Micros } from '../../time.ts'
import type { RunResult } from '../alerting/failures.ts'
import { type Evaluation, evaluateAbsence } from '../availability/evaluate-absence.ts'
import type { Gap, Listener } from '../availability/unavailable.ts'
import { applySignal, type CheckMachine, pause, resume, type StatusChange, sweep } from '../checks/state-machine.ts'
import type { RunSignal } from '../rules/apply-watched.ts'
import { applyRules, type RuleState } from '../rules/rule-state.ts'
import { SLOW } from '../rules/run.ts'
import { nextOccurrence } from '../schedules/schedule.ts'

export interface HeardSignal extends RunSignal {
  listener: Listener
}

/** Replaces the pings that caused it. */
export interface RecordedChange {
  kind: 'change'
  at: Micros
  change: StatusChange
}

export type Played = HeardSignal | { kind: 'pause' | 'resume'; at: Micros } | RecordedChange

export interface Truth {
  check: CheckMachine
  played: readonly Played[]
  /** null without rules of runs and sources */
  ruleState: RuleState | null
  gaps: readonly Gap[]
  refusals: readonly Micros[]
  shard: bigint
}

export interface Happening {
  flip: { at: Micros; change: StatusChange } | null
  /** a failure of a check that was down already */
  isFailedAgain: boolean
  extended: DeadlineExtension | null
}

type DeadlineExtension = Extract<Evaluation, { kind: 'deadline_extended' }> & { deadline: Micros }

const NOTHING: Happening = { flip: null, isFailedAgain: false, extended: null }

/** Uses the functions of production. */
export class VirtualCheck {
  readonly check: CheckMachine
  readonly results: RunResult[] = []
  readonly #truth: Truth
  readonly #lengths: Micros[] = []
  #listener: Listener = 'http'
  #index = 0
  /** no sweep before the end of a gap that contains the deadline */
  #leftUntil: Micros = 0

  constructor(truth: Truth) {
    this.#truth = truth
    this.check = truth.check
  }

  nextAt(): Micros {
    return Math.min(this.#truth.played[this.#index]?.at ?? Number.POSITIVE_INFINITY, this.#sweepAt())
  }

  get heardAt(): Micros | null {
    return this.check.lastPing
  }

  get listener(): Listener {
    return this.#listener
  }

  step(at: Micros): Happening {
    const next = this.#truth.played[this.#index]
    // A ping before the deadline comes before the sweep.
    if (!next || next.at > at) return this.#sweep(at)
    this.#index += 1
    if ('rid' in next) return this.#hear(next)
    if (next.kind === 'change') return this.#recall(next)
    const change = next.kind === 'pause' ? pause(this.check) : resume(this.check)
    return change ? { ...NOTHING, flip: { at, change } } : NOTHING
  }

  #sweepAt(): Micros {
    const { alertAfter, status } = this.check
    const isEvaluated = status !== 'down' && alertAfter !== null
    return isEvaluated ? Math.max(alertAfter + 1, this.#leftUntil) : Number.POSITIVE_INFINITY
  }

  #hear(signal: HeardSignal): Happening {
    const { ruleState } = this.#truth
    if (ruleState?.runs) ruleState.runs.p95 = this.#slowFrom()
    const { type, flip, uncounted } = ruleState
      ? applyRules(this.check, ruleState, signal, nextOccurrence)
      : applySignal(this.check, signal, nextOccurrence)
    if (ruleState) this.#noteLengths(ruleState)
    this.#listener = signal.listener
    if (uncounted) return NOTHING
    if (type === 'success' || type === 'fail') this.results.push({ at: signal.at, ok: type === 'success' })
    if (flip) return { ...NOTHING, flip: { at: signal.at, change: flip } }
    return type === 'fail' ? { ...NOTHING, isFailedAgain: true } : NOTHING
  }

  #recall({ at, change }: RecordedChange): Happening {
    this.check.status = change.to
    if (change.to === 'up' || change.reason === 'fail') {
      this.check.lastPing = at
      this.results.push({ at, ok: change.to === 'up' })
    }
    return { ...NOTHING, flip: { at, change } }
  }

  #sweep(now: Micros): Happening {
    const { check } = this
    const decision = sweep(check, now, nextOccurrence)
    if (decision.kind !== 'down') {
      check.alertAfter = decision.kind === 'look-again' ? decision.alertAfter : null
      return NOTHING
    }
    const openUntil = this.#openGap(decision.at, now)
    if (openUntil !== null) {
      this.#leftUntil = openUntil
      return NOTHING
    }
    const evaluation = this.#evaluate(decision.at)
    if (evaluation.kind === 'deadline_extended') return this.#extend({ ...evaluation, deadline: decision.at })
    check.status = 'down'
    check.alertAfter = null
    return { ...NOTHING, flip: { at: decision.at, change: decision.flip } }
  }

  /** Returns null if no open gap contains the deadline. */
  #openGap(deadline: Micros, now: Micros): Micros | null {
    const { gaps, shard } = this.#truth
    const open = gaps.filter(
      ({ listener, shards, from, until, kind }) =>
        kind !== 'detection' &&
        listener === this.#listener &&
        (shards & shard) !== 0n &&
        from <= deadline &&
        (until === null || until > now),
    )
    return open.length === 0 ? null : Math.max(...open.map(({ until }) => until ?? Number.POSITIVE_INFINITY))
  }

  #evaluate(deadline: Micros): Evaluation {
    const { gaps, refusals, shard, ruleState } = this.#truth
    const evidence = { listener: this.#listener, shard, gaps, refusals, ...(ruleState && { ruleState }) }
    return evaluateAbsence(this.check, deadline, evidence, nextOccurrence)
  }

  #extend(evaluation: DeadlineExtension): Happening {
    const { check } = this
    check.deadlineExtendedAt = evaluation.at
    check.alertAfter = evaluation.alertAfter
    if (evaluation.isRun) Object.assign(check, { lastStart: null, lastStartRid: null })
    return { ...NOTHING, extended: evaluation }
  }

  /** Returns null with too few durations. */
  #slowFrom(): Micros | null {
    if (this.#lengths.length < SLOW.least) return null
    const sorted = this.#lengths.slice(-SLOW.of).sort((a, b) => a - b)
    return sorted[Math.ceil(sorted.length * SLOW.share) - 1] ?? null
  }

  #noteLengths({ runs, sources }: RuleState): void {
    for (const { outcome, duration } of runs?.changed ?? []) {
      if (outcome === 'success' && duration !== null) this.#lengths.push(duration)
    }
    runs?.changed.clear()
    sources?.changed.clear()
  }
}
