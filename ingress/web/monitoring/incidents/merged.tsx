import type { ShownIncident } from '#shared/monitoring/alerting/incident-page-view.ts'
import { listText } from '#shared/monitoring/notifications/text-parts.ts'
import { ButtonForm } from '../../forms/form.tsx'
import type { Context } from '../../shell/context.ts'
import { StatePill } from './state.tsx'

export interface MergeView {
  /** incident that it is merged into */
  lead: ShownIncident | null
  members: readonly ShownIncident[]
  /** names of incidents that began at the same time or share a parent */
  suggested: readonly string[]
}

interface Props {
  context: Context
  incident: ShownIncident
  path: string
  view: MergeView
  mayEdit: boolean
}

const nameOf = ({ name }: ShownIncident) => name || 'A check without a name'

const MAX_NAMED = 3

/** `“db”, “web”, “mail” and 2 more` */
function suggestedText(names: readonly string[]): string {
  const quoted = names.slice(0, MAX_NAMED).map((name) => `“${name}”`)
  return listText({ before: '', names: quoted, size: names.length, after: '' }, null)
}

/** Shows nothing for an incident that is not merged and has no suggestions. */
export function Merged({ context, incident, path, view, mayEdit }: Props) {
  const { lead, members, suggested } = view
  const isOpen = incident.state !== 'resolved'
  const isSuggested = mayEdit && isOpen && lead === null && suggested.length > 0
  if (lead === null && members.length === 0 && !isSuggested) return null
  return (
    <section class="card" aria-labelledby="merged">
      <h2 id="merged">Merged incidents</h2>
      {lead && (
        <p>
          Merged into <a href={`/incidents/${lead.id}`}>{nameOf(lead)}</a>, which sends the notifications.
        </p>
      )}
      {lead && mayEdit && isOpen && <ButtonForm context={context} action={`${path}/unmerge`} label="Separate" />}
      {members.length > 0 && (
        <ul class="bare">
          {members.map((member) => (
            <li key={member.id}>
              <a href={`/incidents/${member.id}`}>{nameOf(member)}</a> <StatePill incident={member} />
            </li>
          ))}
          {incident.members > members.length && <li class="muted">and {incident.members - members.length} more</li>}
        </ul>
      )}
      {isSuggested && (
        <ButtonForm
          context={context}
          action={`${path}/collect`}
          label={`Merge ${suggestedText(suggested)}, which began at that time`}
          confirm={`Merge ${suggestedText(suggested)} into “${nameOf(incident)}”? Only this incident sends notifications until it is resolved.`}
          yes="Merge"
        />
      )}
    </section>
  )
}
