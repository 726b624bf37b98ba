import { type Micros, microsOfSeconds } from '../../time.ts'
import type { Incident } from './incident.ts'
import { endSequences } from './personal.ts'
import { NO_SEQUENCES } from './sequences.ts'

/** The plan waits this long for an acknowledgement of the person to whom the incident was assigned. */
export const REASSIGN_WAIT: Micros = microsOfSeconds(900)

/** Ends all sequences and moves the rest of the plan. The sequence of the person begins at `now - alertAt`. */
export function beginWait(draft: Incident, now: Micros): Micros {
  endWait(draft, now)
  const alertAt = draft.alertAt ?? now
  draft.alertAt = alertAt + REASSIGN_WAIT
  draft.exhaustedAt = null
  draft.sequences = {
    ...(endSequences(draft) ?? { ...NO_SEQUENCES, started: draft.notified }),
    resumesAt: now - alertAt,
  }
  return draft.alertAt
}

/** Continues the plan where it stopped, for example after an acknowledgement. Running sequences keep their times. */
export function endWait(draft: Incident, now: Micros): void {
  const { sequences, alertAt } = draft
  if (!sequences || sequences.resumesAt == null || alertAt === null) return
  const rest = Math.max(0, sequences.resumesAt - (now - alertAt))
  draft.alertAt = alertAt - rest
  const list = sequences.list.map((one) => ({ ...one, start: one.start + rest }))
  draft.sequences = { ...sequences, list, resumesAt: null }
}

/** Returns the time on the plan's clock, which stands still while the plan waits. */
export function passedOf({ alertAt, sequences }: Incident, now: Micros): Micros {
  return Math.max(now - (alertAt ?? now), sequences?.resumesAt ?? Number.NEGATIVE_INFINITY)
}
