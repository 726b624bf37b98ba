import type { Policy } from './policy.ts'

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
