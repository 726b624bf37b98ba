import type { SignalKind } from '../../contracts/signal-kind.ts'
import type { Micros } from '../../time.ts'
import type { CheckFilters, CheckSchedule, CheckState, NextOccurrence, StoredStatus } from './check.ts'
import { goingDownAt, shownStatus } from './status.ts'

/** Type of a recorded ping. `ign` changes only the count. */
export type PingType = SignalKind | 'ign'

/** A classified ping (keywords.ts). `at` is its arrival at the ingress, the only time that the rules use. */
export interface Signal {
  kind: PingType
  at: Micros
  /** lower-case uuid; null is also a run id */
  rid: string | null
}

/** A `processed` change is only history and causes no notification. */
export interface StatusChange {
  from: StoredStatus
  to: StoredStatus
  reason: '' | 'fail' | 'timeout'
  processed: boolean
}

export interface SignalOutcome {
  type: PingType
  flip: StatusChange | null
  /** an older signal than one that was applied: late-signal.ts must recompute the open run */
  late: boolean
  /** The source of the signal does not count, so it is only in the log. */
  uncounted?: true
}

export type CheckMachine = CheckSchedule & CheckFilters & CheckState

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
 * MODIFIES `check`, because it runs for every ping (docs/spec/monitoring.md#applying-a-signal); the caller has locked
 * it. For a late signal, `lastPing` and `lastStart` do not move back, the newest success or fail decides the status,
 * and a pause continues. A late start before a known success or fail opens no run, because that would raise a false
 * alarm.
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

/** A start ends a pause like a manual resume, without a notification. */
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

/** Modifies `state`. All earlier pings must be applied (docs/spec/monitoring.md#pause-and-resume). Null if paused. */
export function pause(state: CheckState): StatusChange | null {
  if (state.status === 'paused') return null
  const from = state.status
  state.status = 'paused'
  closeRun(state)
  state.alertAfter = null
  return { from, to: 'paused', reason: '', processed: true }
}

/** Modifies `state`. The check then waits for its next signal like a new one. Returns null if it is not paused. */
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
 * The caller must store the decision only if status and alertAfter are unchanged
 * (docs/spec/monitoring.md#sweeping-overdue-checks). A check is overdue after its deadline, not at it. `lastStart`
 * stays, so that a late finish is still measured.
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

// Most pings change no status, so they share one object per type.
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
