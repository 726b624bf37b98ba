import { type Micros, microsOfMillis, toDate, toSeconds } from '../../time.ts'
import { covered, without } from '../maintenance/spans.ts'
import type { WindowTime } from '../maintenance/window.ts'
import type { Flip } from './filters.ts'

export interface Downtime {
  from: Micros
  /** exclusive; `now` for the current month */
  until: Micros
  /** time down in the month */
  seconds: number
  /** outages outside the excluded spans; one that crosses the end of a month counts in both */
  count: number
}

/**
 * Returns the downtime of the last `months` calendar months (UTC) with the current one, newest first. An outage lasts
 * from a flip to down until the next flip to another status, for example to paused.
 * @param excluded merged spans that do not count as downtime (docs/spec/alerting.md#maintenance-windows)
 */
export function downtimeByMonth(
  flips: readonly Flip[],
  months: number,
  now: Micros,
  excluded: readonly WindowTime[] = [],
): Downtime[] {
  const outages = findOutages(flips, now)
  return monthSpans(months, now).map(([from, until]) => {
    const lengths = outages.flatMap((outage) => {
      const remaining = without({ from: Math.max(outage.from, from), until: Math.min(outage.until, until) }, excluded)
      return remaining.length === 0 ? [] : [covered(remaining, from, until)]
    })
    const micros = lengths.reduce((sum, length) => sum + length, 0)
    return { from, until, seconds: Math.floor(toSeconds(micros)), count: lengths.length }
  })
}

interface Outage {
  from: Micros
  until: Micros
}

function findOutages(flips: readonly Flip[], now: Micros): Outage[] {
  const ordered = flips.toSorted((a, b) => a.at - b.at)
  const outages: Outage[] = []
  // The flip that began this outage has been deleted. Its time is unknown, so the outage counts from the beginning.
  let downSince: Micros | null = ordered[0]?.from === 'down' ? Number.NEGATIVE_INFINITY : null
  for (const flip of ordered) {
    if (downSince === null) {
      if (flip.to === 'down') downSince = flip.at
    } else if (flip.to !== 'down') {
      outages.push({ from: downSince, until: flip.at })
      downSince = null
    }
  }
  if (downSince !== null) outages.push({ from: downSince, until: now })
  return outages
}

function monthSpans(months: number, now: Micros): [Micros, Micros][] {
  const today = toDate(now)
  const monthStart = (back: number): Micros =>
    microsOfMillis(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - back, 1))
  return Array.from({ length: months }, (_, back) => [monthStart(back), back === 0 ? now : monthStart(back - 1)])
}

/**
 * Returns since when the status of a check is known: since its first flip to up or down. Returns the time of creation if
 * the first flips were deleted, and null while the check has never been up or down.
 */
export function knownSince({ nPings }: { nPings: number }, flips: readonly Flip[], createdAt: Micros): Micros | null {
  const ordered = flips.toSorted((a, b) => a.at - b.at)
  if (ordered[0]?.from === 'new') return ordered.find(({ to }) => to === 'up' || to === 'down')?.at ?? null
  return ordered.length === 0 && nPings === 0 ? null : createdAt
}
