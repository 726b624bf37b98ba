import { type Micros, microsOfSeconds } from '../../time.ts'
import { guessKind, nextOccurrence } from '../schedules/schedule.ts'

/** Planned time in which down is expected (alerting 3). */
export interface Window {
  uuid: string
  name: string
  /** as in a policy: empty: nothing; `*`: all; else tags, all of which a check must have */
  match: string
  /** uuids of checks, besides those that match */
  checks: readonly string[]
  /** once, or at recurring times */
  time: { starts: Micros; ends: Micros } | { every: string; for: number; tz: string }
  uptime: 'count' | 'exclude'
  /** on the status page */
  shown: boolean
}

export interface WindowTime {
  from: Micros
  until: Micros
}

/** Occurrences looked at for one span of time; more often than this nothing recurs that lasts a minute. */
const MOST_OCCURRENCES = 2_000

/** The intervals of a window that touch a span of time, ascending. A change of clocks moves a beginning, never a length. */
export function timesOf({ time }: Pick<Window, 'time'>, from: Micros, until: Micros): WindowTime[] {
  if ('starts' in time) {
    return time.starts < until && time.ends > from ? [{ from: time.starts, until: time.ends }] : []
  }
  const length = microsOfSeconds(time.for)
  const times: WindowTime[] = []
  // An occurrence is strictly after an instant, and one that ends at `from` touches nothing.
  let begin = nextOccurrence(guessKind(time.every), time.every, time.tz, from - length)
  while (begin !== null && begin < until && times.length < MOST_OCCURRENCES) {
    times.push({ from: begin, until: begin + length })
    begin = nextOccurrence(guessKind(time.every), time.every, time.tz, begin)
  }
  return times
}

/** Whether a window is about a check. @param tags split */
export function isAbout({ match, checks }: Window, check: { uuid: string; tags: readonly string[] }): boolean {
  if (checks.includes(check.uuid)) return true
  const wanted = match.trim().split(/\s+/).filter(Boolean)
  if (wanted.length === 0) return false
  return match.trim() === '*' || wanted.every((tag) => check.tags.includes(tag))
}
