import { wallTimeText } from '#shared/monitoring/on-call/wall-time.ts'
import type { Warning } from '#shared/monitoring/on-call/warnings.ts'

const SHOWN = 5

/** @param props.policyForm address of the form for a new policy; null without the right to add one */
export function WarningList(props: { warnings: readonly Warning[]; tz: string; policyForm?: string | null }) {
  const { warnings, tz, policyForm = null } = props
  if (warnings.length === 0) return null
  return (
    <div class="problem">
      <ul>
        {warnings.slice(0, SHOWN).map((warning) => (
          <li key={JSON.stringify(warning)}>
            {warningText(warning, tz)}
            {warning.code === 'UNUSED' && policyForm !== null && (
              <>
                {' '}
                <a href={policyForm}>Add policy</a>
              </>
            )}
          </li>
        ))}
        {warnings.length > SHOWN && <li>and {warnings.length - SHOWN} more</li>}
      </ul>
    </div>
  )
}

function warningText(warning: Warning, tz: string): string {
  switch (warning.code) {
    case 'COVERAGE_GAP':
      return `No person is on call from ${wallTimeText(warning.from, tz)} until ${wallTimeText(warning.until, tz)}.`
    case 'NOT_MEMBER':
      return `${warning.person} cannot be notified: not a member, or read-only.`
    case 'UNREACHABLE':
      return `${warning.person} has no usable contact method.`
    case 'EMPTY_LAYER':
      return `Layer ${warning.layer} has no people.`
    case 'HIDDEN_LAYER':
      return `Layer ${warning.layer} never applies in the next 400 days.`
    case 'SLOW_RULES':
      return `A notification rule of ${warning.person} comes later than step ${warning.step + 1} of the policy ${warning.policy}.`
    case 'UNUSED':
      return 'No policy names this schedule, so no person on it is notified.'
  }
}
