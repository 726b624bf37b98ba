import type { ShownStatus } from '#shared/monitoring/checks/check.ts'
import { type CheckTimes, goingDownAt, nextPing } from '#shared/monitoring/checks/status.ts'
import type { CheckFlip } from '#shared/monitoring/pages/status-history-store.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import type { Micros } from '#shared/time.ts'

/** How a check stands, for one line: `Down 22 min · failure reported`. */
export interface RowState {
  /** `Down`, `Late`, `Running` ... */
  word: string
  /** since when; null when that is not known, or says nothing */
  since: Micros | null
  /** why, in two or three words; empty when there is nothing to explain */
  why: string
  /** an instant that belongs to `why`: when it goes down */
  at: Micros | null
  /** when the next ping is expected; null when none is */
  due: Micros | null
  /** when time alone changes how it stands; null when it does not */
  turns: Micros | null
}

/** @param flips the newest known flips of the check, oldest first */
export function rowState(check: CheckTimes, status: ShownStatus, flips: readonly CheckFlip[]): RowState {
  const last = flips.at(-1)
  const due = status === 'up' || status === 'grace' ? nextPing({ ...check, lastStart: null }, nextOccurrence) : null
  const down = status === 'up' || status === 'grace' ? goingDownAt(check, nextOccurrence) : null
  const none = {
    since: last?.at ?? null,
    why: '',
    at: null,
    due,
    turns: due === null ? down : Math.min(due, down ?? due),
  }
  switch (status) {
    case 'down':
      return check.status === 'down'
        ? { ...none, word: 'Down', why: last?.reason === 'fail' ? 'failure reported' : 'no ping in time' }
        : {
            ...none,
            word: 'Down',
            since: check.alertAfter,
            why: check.lastStart === null ? 'no ping in time' : 'run took too long',
          }
    case 'grace':
      return { ...none, word: 'Late', since: due, why: 'down', at: down, turns: down }
    case 'paused':
      return { ...none, word: 'Paused' }
    case 'new':
      return { ...none, word: 'New', since: null, why: 'waits for its first ping' }
    case 'up':
      if (check.lastStart !== null) return { ...none, word: 'Running', since: check.lastStart }
      return { ...none, word: 'Up' }
  }
}
