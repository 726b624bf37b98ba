import { type Micros, microsOfSeconds, toIsoSeconds } from '../../time.ts'
import { type Plan, type StepTarget, targetsOf } from '../alerting/policy.ts'
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
  /** on call, but no usable contact method notifies the person of critical incidents */
  | { code: 'UNREACHABLE'; person: string }
  /** does not apply within 400 days */
  | { code: 'HIDDEN_LAYER'; layer: number }
  /** on call, but a notification rule of the person comes later than the step after `step`; `step` counts from 1 */
  | { code: 'SLOW_RULES'; person: string; step: number; policy: string }
  /** neither a step nor a fallback of a policy names the schedule */
  | { code: 'UNUSED' }

/** Returns a warning as the API does. */
export function warningView(warning: Warning) {
  if (warning.code !== 'COVERAGE_GAP') return warning
  return { code: warning.code, from: toIsoSeconds(warning.from), until: toIsoSeconds(warning.until) }
}

export interface CoverageFacts extends OnCallFacts {
  schedule: Pick<ScheduleFields, 'tz' | 'holidays' | 'layers' | 'fallback' | 'coverage'>
}

/** Use of a schedule by policies, and reachability of its people. */
export interface ScheduleUse {
  isUsed: boolean
  /** steps that name the schedule, with the seconds until the next step */
  steps: readonly { policy: string; step: number; wait: number }[]
  /** addresses of the members whom no contact method notifies */
  unreachable: ReadonlySet<string>
  /** seconds until the last notification of a person, by address */
  lastAfter: ReadonlyMap<string, number>
}

const WARNED: Micros = microsOfSeconds(30 * DAY_SECONDS)
const MAX_WARNINGS = 50

/** Lists the warnings of the next 30 days, those without a time first, then by their beginning; at most 50. */
export function warningsOf(facts: CoverageFacts, now: Micros, use: ScheduleUse): Warning[] {
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
  const coming = new Set(onCallSpans(facts, now, now + WARNED).map(({ person }) => person))
  for (const person of coming) {
    if (person === null) continue
    if (use.unreachable.has(person)) warnings.push({ code: 'UNREACHABLE', person })
    const slow = use.steps.filter(({ wait }) => (use.lastAfter.get(person) ?? 0) > wait)
    warnings.push(...slow.map(({ policy, step }): Warning => ({ code: 'SLOW_RULES', person, step, policy })))
  }
  if (!use.isUsed) warnings.push({ code: 'UNUSED' })
  const gaps = coverageGaps(facts, now, now + WARNED)
  warnings.push(...gaps.map((gap): Warning => ({ code: 'COVERAGE_GAP', ...gap })))
  return warnings.slice(0, MAX_WARNINGS)
}

/** Lists the warnings about persons whom steps or the fallback of a policy name. */
export function planWarnings(
  { name, plan }: { name: string; plan: Plan },
  members: ReadonlySet<string>,
  { unreachable, lastAfter }: Pick<ScheduleUse, 'unreachable' | 'lastAfter'>,
): Warning[] {
  const namedBy = (targets: readonly StepTarget[]) =>
    targets.flatMap((target) => ('person' in target ? [target.person] : []))
  const warnings = [...new Set(namedBy(targetsOf(plan)))].flatMap((person): Warning[] => {
    if (!members.has(person)) return [{ code: 'NOT_MEMBER', person }]
    return unreachable.has(person) ? [{ code: 'UNREACHABLE', person }] : []
  })
  for (const [index, { people }] of plan.steps.entries()) {
    const wait = plan.steps[index + 1]?.wait ?? Number.POSITIVE_INFINITY
    const slow = namedBy(people).filter((person) => (lastAfter.get(person) ?? 0) > wait)
    warnings.push(...slow.map((person): Warning => ({ code: 'SLOW_RULES', person, step: index + 1, policy: name })))
  }
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

/** A coverage gap is mailed when it is this near, and again when it is nearer. */
const GAP_NOTICES = [
  { name: 'week', before: microsOfSeconds(7 * DAY_SECONDS) },
  { name: 'day', before: microsOfSeconds(DAY_SECONDS) },
] as const

export interface GapNotice {
  gap: WindowTime
  /** identifies the mail among those of a schedule */
  key: string
}

/** Lists the mails about gaps that have not begun, and returns the time of the next one. */
export function gapNotices(
  gaps: readonly WindowTime[],
  now: Micros,
): { due: readonly GapNotice[]; nextAt: Micros | null } {
  const all = gaps
    .filter(({ from }) => from > now)
    .flatMap((gap) =>
      GAP_NOTICES.map(({ name, before }) => ({ gap, key: `${name} ${gap.from}`, at: gap.from - before })),
    )
  const later = all.filter(({ at }) => at > now).map(({ at }) => at)
  return { due: all.filter(({ at }) => at <= now), nextAt: later.length === 0 ? null : Math.min(...later) }
}

function expectedSpans(schedule: CoverageFacts['schedule'], from: Micros, until: Micros): WindowTime[] {
  const { coverage } = schedule
  if (coverage === 'none' || until <= from) return []
  return coverage === 'always' ? [{ from, until }] : hoursSpans(coverage, calendarOf(schedule), from, until)
}
