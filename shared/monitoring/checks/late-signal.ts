import type { Micros } from '../../time.ts'
import type { CheckSchedule, CheckState, NextOccurrence } from './check.ts'
import type { PingType } from './state-machine.ts'
import { goingDownAt } from './status.ts'

export interface RecordedSignal {
  type: PingType
  at: Micros
  rid: string | null
}

/**
 * Recomputes as if all pings had arrived in order. Modifies `check`; its status and lastPing are already correct.
 * `recorded` are the stored pings since the last pause or resume, including the late one; an older run is taken from
 * the state.
 */
export function settleRun(
  check: CheckSchedule & CheckState,
  recorded: readonly RecordedSignal[],
  next: NextOccurrence,
): void {
  const ordered = recorded.toSorted((a, b) => a.at - b.at)
  const [oldest] = ordered
  if (!oldest || check.status === 'paused') return
  const began = check.lastStart !== null && check.lastStart < oldest.at
  let open = began && check.lastStart !== null ? { at: check.lastStart, rid: check.lastStartRid } : null
  let duration = check.lastDuration
  for (const { type, at, rid } of ordered) {
    if (type === 'start') open = { at, rid }
    if (type !== 'success' && type !== 'fail') continue
    const measures = open !== null && open.rid === rid
    duration = open !== null && measures ? at - open.at : null
    if (measures || type === 'fail' || rid === null) open = null
  }
  check.lastStart = open?.at ?? null
  check.lastStartRid = open?.rid ?? null
  check.lastDuration = duration
  check.alertAfter = goingDownAt(check, next)
}
