import type { SignalKind } from '../../contracts/signal-kind.ts'
import type { Micros } from '../../time.ts'
import type { CheckFilters, CheckSchedule, CheckState, StoredStatus } from './check.ts'
import { goingDownAt, type NextOccurrence, shownStatus } from './status.ts'

/** What a recorded ping says of itself; `ign` changed nothing but the count. */
export type PingType = SignalKind | 'ign'

/** A classified ping (keywords.ts). `at` is its arrival at the ingress; rules about time use nothing else. */
export interface Signal {
  kind: PingType
  at: Micros
  /** lower-case uuid text; null without one, which is a run id of its own */
  rid: string | null
}

/** A change of the stored status. `processed` ones are history only: nobody is ever notified of them. */
export interface StatusChange {
  from: StoredStatus
  to: StoredStatus
  reason: '' | 'fail' | 'timeout'
  processed: boolean
}

export interface SignalOutcome {
  /** the type to record */
  type: PingType
  flip: StatusChange | null
  /**
   * The signal is older than one that was applied before. The status is right all the same; whether a run is open
   * and how long the last one took needs the recorded pings: see late-signal.ts.
   */
  late: boolean
  /** The signal is of a source that does not count: it is in the log only. */
  uncounted?: true
}

export type CheckMachine = CheckSchedule & CheckFilters & CheckState

/** Of a check that nothing has happened to yet. */
export const BEGIN = {
  status: 'new',
  nPings: 0,
  lastPing: null,
  lastStart: null,
  lastStartRid: null,
  lastDuration: null,
  alertAfter: null,
  deadlineExtendedAt: null,
} as const satisfies Partial<CheckMachine>

/**
 * Applies one signal to a check that the caller has locked (docs/spec/monitoring.md#applying-a-signal, and the decision on row 3 of
 * its section 0: start, success and fail end a pause unless it is to be ended by hand).
 *
 * CHANGES THE GIVEN OBJECT, because it runs for every ping. The number of the ping is `check.nPings` afterwards.
 *
 * Signals should come in the order of arrival. For those that do not: `lastPing` and `lastStart` never move back,
 * the newest success or fail decides the status, a late signal never ends a pause, and a start that is older than a
 * known success or fail opens no run (a run opened by mistake would raise a false alarm, a missed one only misses a
 * measurement).
 */
export function applySignal(check: CheckMachine, signal: Signal, next: NextOccurrence): SignalOutcome {
  check.nPings += 1
  if (signal.kind === 'ign' || (check.status === 'paused' && check.manualResume)) return IGNORED
  // Neither the times nor the status change, so alertAfter stays what it is.
  if (signal.kind === 'log') return LOGGED

  const outcome = signal.kind === 'start' ? applyStart(check, signal) : applyFinish(check, signal, signal.kind)
  check.alertAfter = goingDownAt(check, next)
  return outcome
}

/** A start ends a pause like a resume by hand does: the check is `new`, and nobody is told. */
function applyStart(check: CheckMachine, signal: Signal): SignalOutcome {
  const late = isBefore(signal.at, check.lastPing) || isBefore(signal.at, check.lastStart)
  if (late) return LATE_START
  check.lastStart = signal.at
  check.lastStartRid = signal.rid
  if (check.status !== 'paused') return STARTED
  check.status = 'new'
  return { type: 'start', flip: { from: 'paused', to: 'new', reason: '', processed: true }, late: false }
}

function applyFinish(check: CheckMachine, signal: Signal, kind: 'success' | 'fail'): SignalOutcome {
  const newest = !isBefore(signal.at, check.lastPing)
  const late = !newest || isBefore(signal.at, check.lastStart)
  if (newest) {
    check.lastPing = signal.at
    check.lastDuration = null
  }
  if (check.lastStart !== null && signal.at >= check.lastStart) {
    if (signal.rid === check.lastStartRid) {
      if (newest) check.lastDuration = signal.at - check.lastStart
      closeRun(check)
    } else if (kind === 'fail' || signal.rid === null) {
      closeRun(check)
    }
  }

  const to = kind === 'fail' ? 'down' : 'up'
  const from = check.status
  if (!newest || from === to) return kind === 'fail' ? (late ? LATE_FAIL : FAILED) : late ? LATE_SUCCESS : SUCCEEDED
  check.status = to
  return { type: kind, flip: { from, to, reason: kind === 'fail' ? 'fail' : '', processed: false }, late }
}

/**
 * Pauses a check, in place (docs/spec/monitoring.md#pause-and-resume). Pings that arrived before must have been applied before.
 * @returns null when it was paused already
 */
export function pause(state: CheckState): StatusChange | null {
  if (state.status === 'paused') return null
  const from = state.status
  state.status = 'paused'
  closeRun(state)
  state.alertAfter = null
  return { from, to: 'paused', reason: '', processed: true }
}

/**
 * Ends a pause by hand, in place: the check waits for its next signal like a new one.
 * @returns null when it is not paused, which the API answers with a conflict
 */
export function resume(state: CheckState): StatusChange | null {
  if (state.status !== 'paused') return null
  state.status = 'new'
  closeRun(state)
  state.lastPing = null
  state.alertAfter = null
  return { from: 'paused', to: 'new', reason: '', processed: true }
}

export type SweepDecision =
  | { kind: 'leave' }
  | { kind: 'look-again'; alertAfter: Micros | null }
  | { kind: 'down'; at: Micros; flip: StatusChange }

/**
 * Decides the action of a sweep at `now` for one check (docs/spec/monitoring.md#sweeping-overdue-checks). Changes nothing: the caller stores the
 * decision only where status and alertAfter are still the ones read. The deadline itself is not overdue yet.
 * A flip is dated at the deadline, not at the sweep; `lastStart` stays, so that a late finish is still measured.
 */
export function sweep(check: CheckSchedule & CheckState, now: Micros, next: NextOccurrence): SweepDecision {
  if (check.status === 'down' || check.alertAfter === null || check.alertAfter >= now) return LEAVE
  const deadline = goingDownAt(check, next)
  if (deadline === null || shownStatus(check, now, next) !== 'down') return { kind: 'look-again', alertAfter: deadline }
  return { kind: 'down', at: deadline, flip: { from: check.status, to: 'down', reason: 'timeout', processed: false } }
}

function closeRun(state: CheckState): void {
  state.lastStart = null
  state.lastStartRid = null
}

function isBefore(at: Micros, known: Micros | null): boolean {
  return known !== null && at < known
}

// Most pings change no status: one object per kind serves them all.
const outcomeWithoutFlip = (type: PingType, late: boolean): SignalOutcome => Object.freeze({ type, flip: null, late })
const IGNORED = outcomeWithoutFlip('ign', false)
const LOGGED = outcomeWithoutFlip('log', false)
const STARTED = outcomeWithoutFlip('start', false)
const SUCCEEDED = outcomeWithoutFlip('success', false)
const FAILED = outcomeWithoutFlip('fail', false)
const LATE_START = outcomeWithoutFlip('start', true)
const LATE_SUCCESS = outcomeWithoutFlip('success', true)
const LATE_FAIL = outcomeWithoutFlip('fail', true)
const LEAVE: SweepDecision = Object.freeze({ kind: 'leave' })
