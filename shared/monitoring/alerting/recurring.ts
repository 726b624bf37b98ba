import { type Micros, microsOfSeconds } from '../../time.ts'
import { guessKind, nextOccurrence } from '../schedules/schedule.ts'
import type { RecurringTime } from './policy.ts'

/** The end of the recurring time that an instant lies in, the latest of several; null outside of all of them. */
export function endOfRecurring(times: readonly RecurringTime[], at: Micros): Micros | null {
  const ends = times.flatMap((time) => {
    const length = microsOfSeconds(time.for)
    const begin = nextOccurrence(guessKind(time.every), time.every, time.tz, at - length)
    if (begin === null || begin > at) return []
    return [lastBegin(time, begin, at) + length]
  })
  return ends.length === 0 ? null : Math.max(...ends)
}

/** Occurrences may follow each other more closely than they last. */
function lastBegin(time: RecurringTime, first: Micros, at: Micros): Micros {
  let begin = first
  for (let looked = 0; looked < 1000; looked++) {
    const following = nextOccurrence(guessKind(time.every), time.every, time.tz, begin)
    if (following === null || following > at) break
    begin = following
  }
  return begin
}

/** The next begin strictly after an instant; null when none of them begins again. */
export function nextRecurring(times: readonly RecurringTime[], at: Micros): Micros | null {
  const begins = times
    .map((time) => nextOccurrence(guessKind(time.every), time.every, time.tz, at))
    .filter((begin) => begin !== null)
  return begins.length === 0 ? null : Math.min(...begins)
}
