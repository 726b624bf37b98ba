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

/** An on-call schedule by uuid, or the address of a person. */
export type StepTarget = { schedule: string } | { person: string }

export interface Step {
  wait: number
  /** uuids of integrations; null: not set */
  channels: readonly string[] | null
  people: readonly StepTarget[]
  /** adds the check's own integrations; null: only if neither integrations nor people are set */
  own: boolean | null
  severity: Severity
  /** `times` null: until the incident ends */
  repeat: { every: number; times: number | null } | null
  hours: readonly RecurringTime[]
  outside: 'wait' | 'skip'
}

/** Notified once per incident, when nothing else is left to send. */
export interface Fallback {
  wait: number
  people: readonly StepTarget[]
  /** uuids of integrations */
  channels: readonly string[]
}

/** See docs/spec/alerting.md#policies. All durations are in seconds. */
export interface Plan {
  when: { failures: number; of: number | null; down_for: number; successes: number }
  steps: readonly Step[]
  group: { checks: number; within: number }
  flapping: { changes: number; within: number } | null
  ack_timeout: number | null
  fallback: Fallback | null
  /** sends acknowledgements to the notified integrations that people read */
  notify_ack: boolean
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
  steps: [
    { wait: 0, channels: null, people: [], own: null, severity: 'info', repeat: null, hours: [], outside: 'wait' },
  ],
  group: { checks: 20, within: 0 },
  flapping: null,
  ack_timeout: null,
  fallback: null,
  notify_ack: false,
}

export function usesOwn({ channels, people, own }: Step): boolean {
  return own ?? (channels === null && people.length === 0)
}

export function usesPeople(plan: Plan): boolean {
  return plan.fallback !== null || targetsOf(plan).length > 0
}

/** Returns the uuids of integrations that the steps and the fallback name. */
export function channelsOf({ steps, fallback }: Plan): string[] {
  return [...steps.flatMap(({ channels }) => channels ?? []), ...(fallback?.channels ?? [])]
}

/** Returns the targets of all steps and of the fallback. */
export function targetsOf({ steps, fallback }: Plan): StepTarget[] {
  return [...steps.flatMap(({ people }) => people), ...(fallback?.people ?? [])]
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
      people: step.people,
      own: usesOwn({ ...step, channels: integrations }),
      severity: step.severity,
      repeat: step.repeat,
      hours: step.hours,
      outside: step.outside,
    })),
    group: plan.group,
    flapping: plan.flapping,
    ack_timeout: plan.ack_timeout,
    fallback: plan.fallback && { ...plan.fallback, channels: plan.fallback.channels.join(',') },
    notify_ack: plan.notify_ack,
  }
}
