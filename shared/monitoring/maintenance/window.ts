import { type Micros, microsOfSeconds, toIsoSeconds } from '../../time.ts'
import { guessKind, nextOccurrence } from '../schedules/schedule.ts'

/** Planned time in which down is expected (docs/spec/alerting.md#maintenance-windows). */
export interface Window {
  uuid: string
  name: string
  /** as in a policy: empty: nothing; `*`: all; else tags, all of which a check must have */
  match: string
  /** uuids of checks, besides those that match */
  checks: readonly string[]
  /** once, or at recurring times, of which some were ended early */
  time: { starts: Micros; ends: Micros } | { every: string; for: number; tz: string; cuts?: readonly WindowTime[] }
  uptime: 'count' | 'exclude'
  /** on the status page */
  shown: boolean
}

export interface WindowTime {
  from: Micros
  until: Micros
}

/** Occurrences looked at for one span of time; more often than this nothing recurs that lasts a minute. */
const MAX_OCCURRENCES = 2_000

/** The intervals of a window that touch a span of time, ascending. A change of clocks moves a beginning, never a length. */
export function timesOf({ time }: Pick<Window, 'time'>, from: Micros, until: Micros): WindowTime[] {
  if ('starts' in time) {
    return time.starts < until && time.ends > from ? [{ from: time.starts, until: time.ends }] : []
  }
  const length = microsOfSeconds(time.for)
  const cuts = new Map(time.cuts?.map((cut) => [cut.from, cut.until]))
  const times: WindowTime[] = []
  let looked = 0
  // An occurrence is strictly after an instant, and one that ends at `from` touches nothing.
  let begin = nextOccurrence(guessKind(time.every), time.every, time.tz, from - length)
  while (begin !== null && begin < until && looked++ < MAX_OCCURRENCES) {
    const end = cuts.get(begin) ?? begin + length
    if (end > Math.max(from, begin)) times.push({ from: begin, until: end })
    begin = nextOccurrence(guessKind(time.every), time.every, time.tz, begin)
  }
  return times
}

/** Occurrences that are known to have been ended early; older ones count in full again. */
const MAX_CUTS = 100
const SHORTEST: Micros = microsOfSeconds(60)

/**
 * The times of a window that is ended at an instant: what lies once ends then (a minute after its begin at the earliest),
 * of what recurs only what goes on at that instant.
 * @returns null when it does not go on
 */
export function endedAt(window: Pick<Window, 'time'>, now: Micros): Window['time'] | null {
  const { time } = window
  const open = timesOf(window, now, now + 1)
  if (open.length === 0) return null
  const second = microsOfSeconds(1)
  const end = Math.floor(now / second) * second
  if ('starts' in time) return { ...time, ends: Math.max(end, time.starts + SHORTEST) }
  const cuts = open.map(({ from }) => ({ from, until: Math.max(end, from) }))
  const kept = (time.cuts ?? []).filter((cut) => !open.some(({ from }) => from === cut.from))
  return { ...time, cuts: [...kept, ...cuts].slice(-MAX_CUTS) }
}

/** Whether a window is about a check. @param tags split */
export function isAbout({ match, checks }: Window, check: { uuid: string; tags: readonly string[] }): boolean {
  if (checks.includes(check.uuid)) return true
  const wanted = match.trim().split(/\s+/).filter(Boolean)
  if (wanted.length === 0) return false
  return match.trim() === '*' || wanted.every((tag) => check.tags.includes(tag))
}

/** A maintenance window as the API shows it. */
export function windowView({ uuid, name, match, checks, time, uptime, shown }: Window) {
  return {
    id: uuid,
    name,
    match,
    checks,
    ...('starts' in time
      ? { starts: toIsoSeconds(time.starts), ends: toIsoSeconds(time.ends) }
      : { every: time.every, for: time.for, tz: time.tz }),
    uptime,
    shown,
  }
}
