import { type Micros, microsOfSeconds } from '../../time.ts'
import { splitTags } from '../checks/tags.ts'

/** How bad it is when a check is down; each is worse than the one before. */
export const SEVERITIES = ['info', 'warning', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

/** From each occurrence for so many seconds of real time. */
export interface RecurringTime {
  /** cron or OnCalendar */
  every: string
  /** seconds */
  for: number
  /** IANA name */
  tz: string
}

/** One voice of a plan: speaks `wait` seconds after the one before. */
export interface Step {
  /** seconds after the step before */
  wait: number
  /** uuids of integrations; null: the check's own */
  channels: readonly string[] | null
  /** checks that are less severe are not told by this step */
  severity: Severity
  /** `times` null: until it ends */
  repeat: { every: number; times: number | null } | null
  /** when it may speak; empty: always */
  hours: readonly RecurringTime[]
  outside: 'wait' | 'skip'
}

/** Receivers, times, repetitions and end of notifications (docs/spec/alerting.md#policies). All spans are seconds. */
export interface Plan {
  when: { failures: number; of: number | null; down_for: number; successes: number }
  steps: readonly Step[]
  group: { checks: number; within: number }
  flapping: { changes: number; within: number } | null
  ack_timeout: number | null
}

export interface Policy {
  id: number
  uuid: string
  name: string
  /** empty: nothing; `*`: the whole project; else tags, all of which a check must have */
  match: string
  position: number
  plan: Plan
}

/** What holds for a check with parents or in a window that no policy applies to: one step, at once, its own integrations. */
export const IMPLICIT_PLAN: Plan = {
  when: { failures: 1, of: null, down_for: 0, successes: 1 },
  steps: [{ wait: 0, channels: null, severity: 'info', repeat: null, hours: [], outside: 'wait' }],
  group: { checks: 20, within: 0 },
  flapping: null,
  ack_timeout: null,
}

export function isAtLeast(severity: Severity, needed: Severity): boolean {
  return SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(needed)
}

/** Whether a selection by tags means a check: `""` nothing, `*` everything, else all of the tags. */
function matches(match: string, tags: readonly string[]): boolean {
  const wanted = splitTags(match)
  if (wanted.length === 0) return false
  return match.trim() === '*' || wanted.every((tag) => tags.includes(tag))
}

/**
 * The one policy that applies to a check: the one it names; else of those that match by tags the lowest position, then
 * the oldest; else the oldest for the whole project; else none. Nothing is merged.
 */
export function policyFor(
  check: { tags: string; policyId: number | null },
  policies: readonly Policy[],
): Policy | null {
  const named = policies.find(({ id }) => id === check.policyId)
  if (named) return named
  const tags = splitTags(check.tags)
  const byTags = policies.filter(({ match }) => match.trim() !== '*' && matches(match, tags))
  byTags.sort((a, b) => a.position - b.position || a.id - b.id)
  const forAll = policies.filter(({ match }) => match.trim() === '*').sort((a, b) => a.id - b.id)
  return byTags[0] ?? forAll[0] ?? null
}

/** Offsets of the steps from the beginning of the plan, in microseconds. */
export function stepOffsets({ steps }: Plan): Micros[] {
  let sum = 0
  return steps.map(({ wait }) => (sum += microsOfSeconds(wait)))
}

/** A policy as the API and the configuration document show it; integrations by uuid, separated by commas. */
export function policyView({ uuid, name, match, position, plan }: Policy) {
  return {
    id: uuid,
    name,
    match,
    position,
    when: plan.when,
    steps: plan.steps.map(({ channels, ...step }) => ({
      wait: step.wait,
      ...(channels && { channels: channels.join(',') }),
      severity: step.severity,
      repeat: step.repeat,
      hours: step.hours,
      outside: step.outside,
    })),
    group: plan.group,
    flapping: plan.flapping,
    ack_timeout: plan.ack_timeout,
  }
}
