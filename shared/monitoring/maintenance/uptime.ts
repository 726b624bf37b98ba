import { type Micros, microsOfSeconds, toSeconds } from '../../time.ts'
import type { StoredStatus } from '../checks/check.ts'
import type { Flip } from '../flips/filters.ts'
import { covered, merged, without } from './spans.ts'
import type { WindowTime } from './window.ts'

/** See docs/spec/alerting.md#maintenance-windows. */
export interface UptimeFacts {
  /** within the span, any order */
  flips: readonly Flip[]
  /** status before the first of these flips; null if the check did not exist */
  before: StoredStatus | null
  createdAt: Micros
  unknown: readonly WindowTime[]
  /** merged maintenance that does not count */
  excluded: readonly WindowTime[]
}

/** Whole seconds that add up to the period. */
export interface Uptime {
  up: number
  down: number
  unknown: number
  maintenance: number
  /** paused, not pinged yet, or not created yet */
  off: number
  /** up / (up + down), cut to six digits; null when both are 0 */
  ratio: number | null
}

/** Each instant counts once: off, excluded maintenance, down, unknown, up. Down continues in a coverage gap. */
export function uptimeOf(facts: UptimeFacts, from: Micros, until: Micros): Uptime {
  const unknown = merged(facts.unknown)
  const sums = { up: 0, down: 0, unknown: 0, maintenance: 0, off: 0 }
  for (const { status, ...span } of spansOfStatus(facts, from, until)) {
    const length = span.until - span.from
    if (status !== 'up' && status !== 'down') {
      sums.off += length
      continue
    }
    const counted = without(span, facts.excluded)
    const left = covered(counted, span.from, span.until)
    sums.maintenance += length - left
    const unknownTime =
      status === 'down' ? 0 : counted.reduce((sum, each) => sum + covered(unknown, each.from, each.until), 0)
    sums.unknown += unknownTime
    sums[status] += left - unknownTime
  }
  const known = sums.up + sums.down
  return {
    ...wholeSeconds(sums),
    ratio: known === 0 ? null : Math.floor((sums.up / known) * 1_000_000) / 1_000_000,
  }
}

/** Unknown time counts only while the check was not down. Argument and result are merged. */
export function uncounted(
  excluded: readonly WindowTime[],
  unknown: readonly WindowTime[],
  flips: readonly Flip[],
): WindowTime[] {
  const ordered = flips.toSorted((a, b) => a.at - b.at)
  const downs = ordered.flatMap((flip, index) =>
    flip.to === 'down' ? [{ from: flip.at, until: ordered[index + 1]?.at ?? Number.POSITIVE_INFINITY }] : [],
  )
  return merged([...excluded, ...merged(unknown).flatMap((span) => without(span, merged(downs)))])
}

const PARTS = ['up', 'down', 'unknown', 'maintenance', 'off'] as const
type Parts = Record<(typeof PARTS)[number], number>

/** Adds the missing seconds to the parts with the largest remainders. */
function wholeSeconds(micros: Parts): Parts {
  const seconds = { ...micros }
  for (const part of PARTS) seconds[part] = Math.floor(toSeconds(micros[part]))
  const sum = (parts: Parts) => PARTS.reduce((total, part) => total + parts[part], 0)
  const left = Math.floor(toSeconds(sum(micros))) - sum(seconds)
  const lost = (part: keyof Parts) => micros[part] - microsOfSeconds(seconds[part])
  for (const part of PARTS.toSorted((a, b) => lost(b) - lost(a)).slice(0, left)) seconds[part] += 1
  return seconds
}

function spansOfStatus(
  { flips, before, createdAt }: UptimeFacts,
  from: Micros,
  until: Micros,
): (WindowTime & { status: StoredStatus | null })[] {
  const changes = flips.toSorted((a, b) => a.at - b.at).map(({ at, to }) => ({ at, status: to as StoredStatus | null }))
  const first = { at: Math.min(Math.max(createdAt, from), until), status: before }
  const points = [{ at: from, status: null as StoredStatus | null }, first, ...changes, { at: until, status: null }]
  return points.slice(0, -1).map(({ at, status }, index) => ({
    from: Math.max(from, Math.min(at, until)),
    until: Math.max(from, Math.min(points[index + 1]?.at ?? until, until)),
    status,
  }))
}
