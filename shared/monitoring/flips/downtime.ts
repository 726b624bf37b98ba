import { type Micros, microsOfMillis, toDate, toSeconds } from '../../time.ts'
import { covered, without } from '../maintenance/spans.ts'
import type { WindowTime } from '../maintenance/window.ts'
import type { Flip } from './filters.ts'

export interface Downtime {
  from: Micros
  /** exclusive; the current month ends at `now` */
  until: Micros
  seconds: number
  /** outages in the span; one that crosses its border also counts in the next span */
  count: number
}

/**
 * Uses calendar months in UTC, newest first. An outage ends with the next flip, for example a pause. `excluded` is
 * merged time that does not count (docs/spec/alerting.md#maintenance-windows).
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
      const pieces = without({ from: Math.max(outage.from, from), until: Math.min(outage.until, until) }, excluded)
      return pieces.length === 0 ? [] : [covered(pieces, from, until)]
    })
    const micros = lengths.reduce((sum, length) => sum + length, 0)
    return { from, until, seconds: Math.floor(toSeconds(micros)), count: lengths.length }
  })
}

export function endedOutage(flip: Pick<Flip, 'at'>, previous: Pick<Flip, 'at' | 'to'> | null): Micros | null {
  return previous?.to === 'down' ? Math.max(0, flip.at - previous.at) : null
}

interface Outage {
  from: Micros
  until: Micros
}

function findOutages(flips: readonly Flip[], now: Micros): Outage[] {
  const ordered = flips.toSorted((a, b) => a.at - b.at)
  const outages: Outage[] = []
  // A check that was down before its first stored flip counts as down for all time before.
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

/** From the first ping on; if older flips were deleted, since the creation. Null before the first ping. */
export function knownSince({ nPings }: { nPings: number }, flips: readonly Flip[], createdAt: Micros): Micros | null {
  const ordered = flips.toSorted((a, b) => a.at - b.at)
  if (ordered[0]?.from === 'new') return ordered.find(({ to }) => to === 'up' || to === 'down')?.at ?? null
  return ordered.length === 0 && nPings === 0 ? null : createdAt
}
