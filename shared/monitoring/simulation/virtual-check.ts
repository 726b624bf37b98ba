import type { Micros } from '../../time.ts'
import type { Finish } from '../alerting/failures.ts'
import { applySignal, type CheckMachine, pause, resume, type StatusChange, sweep } from '../checks/state-machine.ts'
import type { Door, Gap } from '../gaps/blind.ts'
import { judge, type Verdict } from '../gaps/judge.ts'
import { applyRuled, type RuledFacts } from '../ruled/ruled.ts'
import type { RunSignal } from '../runs/apply-watched.ts'
import { SLOW } from '../runs/run.ts'
import { nextOccurrence } from '../schedules/schedule.ts'

/** A signal and the door that it came by. */
export interface HeardSignal extends RunSignal {
  door: Door
}

/** A change as it was recorded, in place of the signals that made it. */
export interface RecordedChange {
  kind: 'change'
  at: Micros
  change: StatusChange
}

/** Something that happens to a check from outside. */
export type Played =
  | HeardSignal
  /** somebody pauses it or ends the pause */
  | { kind: 'pause' | 'resume'; at: Micros }
  | RecordedChange

/** What is true of a check and what may keep its pings from us. */
export interface Truth {
  check: CheckMachine
  /** ascending */
  played: readonly Played[]
  /** what its rules say of runs and sources; null for a plain check */
  ruled: RuledFacts | null
  gaps: readonly Gap[]
  /** when pings of it were refused, ascending */
  refusals: readonly Micros[]
  /** bit mask of its shard */
  shard: bigint
}

/** What became of a check at an instant. */
export interface Happening {
  flip: { at: Micros; change: StatusChange } | null
  /** a failure was reported of a check that was down already */
  isFailedAgain: boolean
  excused: Excuse | null
}

type Excuse = Extract<Verdict, { kind: 'excused' }> & { deadline: Micros }

const NOTHING: Happening = { flip: null, isFailedAgain: false, excused: null }

/** Status, deadlines and excuses of one check in virtual time, by the functions that production uses. */
export class VirtualCheck {
  readonly check: CheckMachine
  readonly finishes: Finish[] = []
  readonly #truth: Truth
  readonly #lengths: Micros[] = []
  #door: Door = 'http'
  #place = 0
  /** a gap that touches what was expected is still open until then */
  #leftUntil: Micros = 0

  constructor(truth: Truth) {
    this.#truth = truth
    this.check = truth.check
  }

  /** When something happens next; Infinity when nothing does. */
  nextAt(): Micros {
    return Math.min(this.#truth.played[this.#place]?.at ?? Number.POSITIVE_INFINITY, this.#sweepAt())
  }

  /** When it was last heard; null before. */
  get heardAt(): Micros | null {
    return this.check.lastPing
  }

  /** The listener that it pings. */
  get door(): Door {
    return this.#door
  }

  /** Lets happen what is next, at the instant that `nextAt` said. */
  step(at: Micros): Happening {
    const next = this.#truth.played[this.#place]
    // A ping that came before the deadline always wins.
    if (!next || next.at > at) return this.#sweep(at)
    this.#place += 1
    if ('rid' in next) return this.#hear(next)
    if (next.kind === 'change') return this.#recall(next)
    const change = next.kind === 'pause' ? pause(this.check) : resume(this.check)
    return change ? { ...NOTHING, flip: { at, change } } : NOTHING
  }

  #sweepAt(): Micros {
    const { alertAfter, status } = this.check
    const isJudged = status !== 'down' && alertAfter !== null
    return isJudged ? Math.max(alertAfter + 1, this.#leftUntil) : Number.POSITIVE_INFINITY
  }

  #hear(signal: HeardSignal): Happening {
    const { ruled } = this.#truth
    if (ruled?.runs) ruled.runs.p95 = this.#slowFrom()
    const { type, flip, uncounted } = ruled
      ? applyRuled(this.check, ruled, signal, nextOccurrence)
      : applySignal(this.check, signal, nextOccurrence)
    if (ruled) this.#noteLengths(ruled)
    this.#door = signal.door
    if (uncounted) return NOTHING
    if (type === 'success' || type === 'fail') this.finishes.push({ at: signal.at, ok: type === 'success' })
    if (flip) return { ...NOTHING, flip: { at: signal.at, change: flip } }
    return type === 'fail' ? { ...NOTHING, isFailedAgain: true } : NOTHING
  }

  #recall({ at, change }: RecordedChange): Happening {
    this.check.status = change.to
    if (change.to === 'up' || change.reason === 'fail') {
      this.check.lastPing = at
      this.finishes.push({ at, ok: change.to === 'up' })
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
    const verdict = this.#judge(decision.at)
    if (verdict.kind === 'excused') return this.#excuse({ ...verdict, deadline: decision.at })
    check.status = 'down'
    check.alertAfter = null
    return { ...NOTHING, flip: { at: decision.at, change: decision.flip } }
  }

  /** The end of a gap that touches the deadline and has not ended at this instant; null when there is none. */
  #openGap(deadline: Micros, now: Micros): Micros | null {
    const { gaps, shard } = this.#truth
    const open = gaps.filter(
      ({ door, shards, from, until, kind }) =>
        kind !== 'detection' &&
        door === this.#door &&
        (shards & shard) !== 0n &&
        from <= deadline &&
        (until === null || until > now),
    )
    return open.length === 0 ? null : Math.max(...open.map(({ until }) => until ?? Number.POSITIVE_INFINITY))
  }

  #judge(deadline: Micros): Verdict {
    const { gaps, refusals, shard, ruled } = this.#truth
    const evidence = { door: this.#door, shard, gaps, refusals, ...(ruled && { ruled }) }
    return judge(this.check, deadline, evidence, nextOccurrence)
  }

  #excuse(verdict: Excuse): Happening {
    const { check } = this
    check.excusedAt = verdict.at
    check.alertAfter = verdict.alertAfter
    if (verdict.isRun) Object.assign(check, { lastStart: null, lastStartRid: null })
    return { ...NOTHING, excused: verdict }
  }

  /** The length that nearly all of the newest successes stay under; null while there are too few. */
  #slowFrom(): Micros | null {
    if (this.#lengths.length < SLOW.least) return null
    const sorted = this.#lengths.slice(-SLOW.of).sort((a, b) => a - b)
    return sorted[Math.ceil(sorted.length * SLOW.share) - 1] ?? null
  }

  #noteLengths({ runs, sources }: RuledFacts): void {
    for (const { outcome, duration } of runs?.changed ?? []) {
      if (outcome === 'success' && duration !== null) this.#lengths.push(duration)
    }
    // Nothing of it is stored.
    runs?.changed.clear()
    sources?.changed.clear()
  }
}
