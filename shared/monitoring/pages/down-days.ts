import { type Micros, microsOfSeconds, toIsoMillis, toSeconds } from '../../time.ts'
import type { Downtime } from '../flips/downtime.ts'
import type { Flip } from '../flips/filters.ts'
import { covered, without } from '../maintenance/spans.ts'
import type { WindowTime } from '../maintenance/window.ts'

export interface DownDay {
  date: string
  /** whole seconds of downtime; null before the first known flip */
  seconds: number | null
  /** the day contains maintenance that the page shows */
  isPlanned?: boolean
  isUnknown?: boolean
}

/** Spans that are drawn or counted differently. Each list is merged. */
interface SpecialTime {
  excluded?: readonly WindowTime[]
  planned?: readonly WindowTime[]
  unknown?: readonly WindowTime[]
}

const DAY: Micros = microsOfSeconds(86_400)

/**
 * Days are UTC, oldest first. Days before the first flip are unknown, because the check may not have existed.
 * `excluded` does not count as downtime (docs/spec/alerting.md#maintenance-windows).
 */
export function downDays(
  flips: readonly Flip[],
  days: number,
  now: Micros,
  { excluded = [], planned = [], unknown = [] }: SpecialTime = {},
): DownDay[] {
  const ordered = flips.toSorted((a, b) => a.at - b.at)
  const first = ordered[0]
  const outages: { from: Micros; until: Micros }[] = []
  for (const [index, flip] of ordered.entries()) {
    if (flip.to === 'down') outages.push(...without({ from: flip.at, until: ordered[index + 1]?.at ?? now }, excluded))
  }
  const today = Math.floor(now / DAY) * DAY
  return Array.from({ length: days }, (_, index) => {
    const from = today - (days - 1 - index) * DAY
    const until = Math.min(from + DAY, now)
    const micros = outages.reduce(
      (sum, outage) => sum + Math.max(0, Math.min(outage.until, until) - Math.max(outage.from, from)),
      0,
    )
    const isKnown = first !== undefined && first.at < until
    return {
      date: toIsoMillis(from).slice(0, 10),
      seconds: isKnown ? Math.floor(toSeconds(micros)) : null,
      ...(covered(planned, from, until) > 0 && { isPlanned: true }),
      ...(covered(unknown, from, until) > 0 && { isUnknown: true }),
    }
  })
}

/** `since` is when the status of the check was first known. */
export function knownDowntime(days: readonly DownDay[], since: Micros, now: Micros): Downtime {
  const begin = Math.floor(now / DAY) * DAY - (days.length - 1) * DAY
  const seconds = days.reduce((sum, day) => sum + (day.seconds ?? 0), 0)
  return {
    from: Math.max(since, begin),
    until: now,
    seconds,
    count: days.filter((day) => (day.seconds ?? 0) > 0).length,
  }
}
