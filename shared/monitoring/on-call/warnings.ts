import { type Micros, microsOfSeconds } from '../../time.ts'
import { merged, without } from '../maintenance/spans.ts'
import type { WindowTime } from '../maintenance/window.ts'
import { hoursSpans } from './layer.ts'
import { HORIZON, onCallSpans } from './on-call.ts'
import { DAY_SECONDS, type OnCallFacts, type ScheduleFields } from './schedule.ts'
import { calendarOf, wallSeconds } from './wall-time.ts'

export type Warning =
  /** no person, or only the fallback, while `coverage` expects one */
  | { code: 'COVERAGE_GAP'; from: Micros; until: Micros }
  /** named by the schedule, but left the organisation or lacks the right `respond` */
  | { code: 'NOT_MEMBER'; person: string }
  /** `layer` counts from 1 */
  | { code: 'EMPTY_LAYER'; layer: number }
  /** does not apply within 400 days */
  | { code: 'HIDDEN_LAYER'; layer: number }

export interface CoverageFacts extends OnCallFacts {
  schedule: Pick<ScheduleFields, 'tz' | 'holidays' | 'layers' | 'fallback' | 'coverage'>
}

const WARNED: Micros = microsOfSeconds(30 * DAY_SECONDS)
const MAX_WARNINGS = 50

/** Lists the warnings of the next 30 days, those without a time first, then by their beginning; at most 50. */
export function warningsOf(facts: CoverageFacts, now: Micros): Warning[] {
  const { schedule, overrides, members } = facts
  const calendar = calendarOf(schedule)
  const named = [
    ...schedule.layers.flatMap(({ people }) => people),
    ...overrides.filter(({ end }) => end > now).map(({ person }) => person),
    schedule.fallback,
  ]
  const warnings: Warning[] = [...new Set(named)]
    .filter((person) => person !== null)
    .filter((person) => !members.has(person))
    .map((person) => ({ code: 'NOT_MEMBER', person }))

  // Overrides may hide a layer for a while, but do not make it useless.
  const applied = new Set(onCallSpans({ ...facts, overrides: [] }, now, now + HORIZON).map(({ source }) => source))
  for (const [index, { people, end }] of schedule.layers.entries()) {
    const layer = index + 1
    const isOver = end !== null && calendar.resolve(wallSeconds(end)) <= now
    if (people.length === 0) warnings.push({ code: 'EMPTY_LAYER', layer })
    else if (!isOver && !applied.has(`layer ${layer}`)) warnings.push({ code: 'HIDDEN_LAYER', layer })
  }
  const gaps = coverageGaps(facts, now, now + WARNED)
  warnings.push(...gaps.map((gap): Warning => ({ code: 'COVERAGE_GAP', ...gap })))
  return warnings.slice(0, MAX_WARNINGS)
}

/** Lists the time in which `coverage` expects a person and at most the fallback is on call. */
export function coverageGaps(facts: CoverageFacts, from: Micros, until: Micros): WindowTime[] {
  const expected = expectedSpans(facts.schedule, from, until)
  if (expected.length === 0) return []
  const covered = onCallSpans(facts, from, until).filter(
    ({ person, source }) => person !== null && source !== 'fallback',
  )
  const taken = merged(covered.map((span) => ({ from: span.from, until: span.until })))
  return expected.flatMap((span) => without(span, taken))
}

function expectedSpans(schedule: CoverageFacts['schedule'], from: Micros, until: Micros): WindowTime[] {
  const { coverage } = schedule
  if (coverage === 'none' || until <= from) return []
  return coverage === 'always' ? [{ from, until }] : hoursSpans(coverage, calendarOf(schedule), from, until)
}
