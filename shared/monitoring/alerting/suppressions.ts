import { type Micros, microsOfSeconds } from '../../time.ts'
import type { Gap, Listener } from '../availability/unavailable.ts'
import { isAbout, timesOf, type Window } from '../maintenance/window.ts'
import type { Facts, Incident, Suppression } from './incident.ts'
import { SUPPRESSIONS } from './reasons.ts'

/** A longer delay of an evaluation counts as an outage of Signalbox, which must not escalate. */
const LATE_AFTER: Micros = microsOfSeconds(60)
const RECOVERING_EVERY: Micros = microsOfSeconds(10)

/** Adds suppressions that follow from the incident's state. COVERAGE_GAP never delays the first notification. */
export function suppressionsOf(incident: Incident, facts: Facts, now: Micros): Suppression[] {
  const fromState: Suppression[] = []
  if (incident.ack) fromState.push({ reason: 'ACKNOWLEDGED', since: incident.ack.at, until: incident.ack.until })
  if (incident.upAt !== null) {
    fromState.push({ reason: 'RECOVERING', since: incident.upAt, until: now + RECOVERING_EVERY })
  }
  const settledAt = settlesAt(incident, facts)
  if (settledAt !== null) fromState.push({ reason: 'SETTLING', since: lastFlipOf(incident, facts), until: settledAt })
  return [
    ...fromState,
    ...facts.suppressions.filter(({ reason }) => reason !== 'COVERAGE_GAP' || incident.firstStep !== null),
  ]
}

/** Includes windows that ended since `since`. Yields after each window. */
export function* maintenanceSuppressions(
  windows: readonly Window[],
  check: { uuid: string; tags: readonly string[] },
  { since, now }: { since: Micros; now: Micros },
): Generator<undefined, Suppression[]> {
  const suppressions: Suppression[] = []
  for (const window of windows) {
    if (!isAbout(window, check)) continue
    const detail = { window: window.uuid, name: window.name }
    for (const { from, until } of timesOf(window, since, now + 1))
      suppressions.push({ reason: 'MAINTENANCE', since: from, until, detail })
    yield
  }
  return suppressions
}

/** In gaps of kind `detection` no ping was lost, so they suppress nothing. */
export function outageSuppressions(gaps: readonly Gap[], listener: Listener): Suppression[] {
  return gaps
    .filter((gap) => gap.listener === listener && gap.kind !== 'detection')
    .map(({ from, until }) => ({ reason: 'COVERAGE_GAP', since: from, until }))
}

/** Assumes an unchanged status; null without flapping. */
export function settlesAt(incident: Incident, facts: Facts): Micros | null {
  if (!incident.flapping) return null
  const within = facts.policy?.plan.flapping?.within ?? 0
  return lastFlipOf(incident, facts) + Math.floor(microsOfSeconds(within) / 3)
}

function lastFlipOf(incident: Incident, facts: Facts): Micros {
  return Math.max(incident.downAt, incident.upAt ?? 0, ...facts.recentFlips)
}

/** Returns the active suppression whose reason ranks first in SUPPRESSIONS; of several, the one with the latest end. */
export function suppressionAt(suppressions: readonly Suppression[], now: Micros): Suppression | null {
  const active = suppressions.filter(({ since, until }) => since <= now && (until === null || now < until))
  for (const reason of SUPPRESSIONS) {
    const found = active.filter((one) => one.reason === reason)
    const last = found.sort((a, b) => (b.until ?? Number.MAX_SAFE_INTEGER) - (a.until ?? Number.MAX_SAFE_INTEGER))[0]
    if (last) return last
  }
  return null
}

/** Returns the time since the last evaluation in which the plan's clock stopped: suppressed, or evaluated late. */
export function stoppedTime(incident: Incident, suppressions: readonly Suppression[], now: Micros): Micros {
  const from = incident.evaluatedAt
  if (from === null || now <= from) return 0
  const intervals = suppressions.map(({ since, until }): [Micros, Micros] => [since, until ?? now])
  if (isForgotten(incident, suppressions)) intervals.push([from, now])
  const { nextAt } = incident
  if (nextAt !== null && now - nextAt > LATE_AFTER) intervals.push([nextAt, now])
  return covered(intervals, from, now)
}

/** A suppression may vanish without a trace, for example if its window is deleted. It then counts until now. */
function isForgotten({ suppression }: Incident, suppressions: readonly Suppression[]): boolean {
  const isSuppression = SUPPRESSIONS.some((reason) => reason === suppression)
  return isSuppression && !suppressions.some(({ reason }) => reason === suppression)
}

function covered(intervals: [Micros, Micros][], from: Micros, until: Micros): Micros {
  let sum = 0
  let reached = from
  for (const [since, end] of intervals.toSorted((a, b) => a[0] - b[0])) {
    const begin = Math.max(since, reached)
    const stop = Math.min(end, until)
    if (stop <= begin) continue
    sum += stop - begin
    reached = stop
  }
  return sum
}

export function beginOf(metAt: Micros, now: Micros): Micros {
  return now - metAt > LATE_AFTER ? now : metAt
}
