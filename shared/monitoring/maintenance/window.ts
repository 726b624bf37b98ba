import { type Micros, microsOfSeconds, toIsoSeconds } from '../../time.ts'
import { guessKind, nextOccurrence } from '../schedules/schedule.ts'

/** See docs/spec/alerting.md#maintenance-windows. */
export interface Window {
  uuid: string
  name: string
  /** as in a policy: empty: no check; `*`: all; otherwise tags, all of which a check must have */
  match: string
  checks: readonly string[]
  /** `cuts` are occurrences that were ended early */
  time: { starts: Micros; ends: Micros } | { every: string; for: number; tz: string; cuts?: readonly WindowTime[] }
  uptime: 'count' | 'exclude'
  shown: boolean
}

/** Name of a window that mutes single checks. Muting is maintenance that is started and ended with one press. */
export const MUTED = 'Muted'

/** True for a window that lists only single checks and has the name of a mute. */
export function isMute({ name, match }: Pick<Window, 'name' | 'match'>): boolean {
  return name === MUTED && match === ''
}

export interface WindowTime {
  from: Micros
  until: Micros
}

const MAX_OCCURRENCES = 2_000

/** Ascending. A clock change does not change their length. */
export function timesOf({ time }: Pick<Window, 'time'>, from: Micros, until: Micros): WindowTime[] {
  if ('starts' in time) {
    return time.starts < until && time.ends > from ? [{ from: time.starts, until: time.ends }] : []
  }
  const length = microsOfSeconds(time.for)
  const cuts = new Map(time.cuts?.map((cut) => [cut.from, cut.until]))
  const times: WindowTime[] = []
  let count = 0
  // nextOccurrence is exclusive, which fits: an occurrence that ends at `from` does not overlap.
  let begin = nextOccurrence(guessKind(time.every), time.every, time.tz, from - length)
  while (begin !== null && begin < until && count++ < MAX_OCCURRENCES) {
    const end = cuts.get(begin) ?? begin + length
    if (end > Math.max(from, begin)) times.push({ from: begin, until: end })
    begin = nextOccurrence(guessKind(time.every), time.every, time.tz, begin)
  }
  return times
}

/** Stored early ends; older occurrences count in full again. */
const MAX_CUTS = 100
export const MIN_LENGTH: Micros = microsOfSeconds(60)

/** A single occurrence keeps at least MIN_LENGTH. Returns null outside of an occurrence. */
export function endedAt(window: Pick<Window, 'time'>, now: Micros): Window['time'] | null {
  const { time } = window
  const open = timesOf(window, now, now + 1)
  if (open.length === 0) return null
  const second = microsOfSeconds(1)
  const end = Math.floor(now / second) * second
  if ('starts' in time) return { ...time, ends: Math.max(end, time.starts + MIN_LENGTH) }
  const cuts = open.map(({ from }) => ({ from, until: Math.max(end, from) }))
  const others = (time.cuts ?? []).filter((cut) => !open.some(({ from }) => from === cut.from))
  return { ...time, cuts: [...others, ...cuts].slice(-MAX_CUTS) }
}

export function isAbout({ match, checks }: Window, check: { uuid: string; tags: readonly string[] }): boolean {
  if (checks.includes(check.uuid)) return true
  const wanted = match.trim().split(/\s+/).filter(Boolean)
  if (wanted.length === 0) return false
  return match.trim() === '*' || wanted.every((tag) => check.tags.includes(tag))
}

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
