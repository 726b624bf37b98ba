import { type Micros, microsOfSeconds } from '../../time.ts'
import { splitTags } from '../checks/tags.ts'

/** In ascending order. */
export const SEVERITIES = ['info', 'warning', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

export interface RecurringTime {
  every: string
  /** seconds of elapsed time from each occurrence */
  for: number
  tz: string
}

export interface Step {
  wait: number
  /** uuids of integrations; null: the check's own */
  channels: readonly string[] | null
  severity: Severity
  /** `times` null: until the incident ends */
  repeat: { every: number; times: number | null } | null
  hours: readonly RecurringTime[]
  outside: 'wait' | 'skip'
}

/** See docs/spec/alerting.md#policies. All durations are in seconds. */
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
  /** empty: no check; `*`: the whole project; otherwise tags, all of which a check must have */
  match: string
  position: number
  plan: Plan
}

/** The plan of a check without a policy that has parents or a maintenance window: notify its own integrations at once. */
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

function matches(match: string, tags: readonly string[]): boolean {
  const wanted = splitTags(match)
  if (wanted.length === 0) return false
  return match.trim() === '*' || wanted.every((tag) => tags.includes(tag))
}

/**
 * Policies are never merged: the named policy, or the first match by tags (lowest position, then oldest), or the
 * oldest for the whole project.
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

export function stepOffsets({ steps }: Plan): Micros[] {
  let sum = 0
  return steps.map(({ wait }) => (sum += microsOfSeconds(wait)))
}

export function policyView({ uuid, name, match, position, plan }: Policy) {
  return {
    id: uuid,
    name,
    match,
    position,
    when: plan.when,
    steps: plan.steps.map(({ channels: integrations, ...step }) => ({
      wait: step.wait,
      ...(integrations && { channels: integrations.join(',') }),
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
