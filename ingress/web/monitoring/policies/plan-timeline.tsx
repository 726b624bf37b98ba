import type { PlanLine } from '#shared/monitoring/alerting/plan.ts'

/** Shows what is notified when, from the begin of the alert to its end. */
export function PlanTimeline({ lines }: { lines: readonly PlanLine[] }) {
  return (
    <ol class="plan-timeline" aria-label="What is notified when">
      {lines.map(({ at, whom }, index) => (
        <li key={index}>
          <b>{at.charAt(0).toUpperCase() + at.slice(1)}</b> {whom}
        </li>
      ))}
      <li class="muted">
        <b>Until</b> the check is up again or the incident is acknowledged
      </li>
    </ol>
  )
}
