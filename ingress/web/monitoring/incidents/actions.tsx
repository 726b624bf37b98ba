import type { ShownIncident } from '#shared/monitoring/alerting/incident-page-view.ts'
import { ButtonForm, FieldForm, Form } from '../../forms/form.tsx'
import { CheckBox } from '../../forms/inputs.tsx'
import type { Context } from '../../shell/context.ts'

const HOUR = 3600
/** Lengths of a snooze that pages offer, in seconds. */
export const SNOOZES = [HOUR, 4 * HOUR, 8 * HOUR, 24 * HOUR, 72 * HOUR] as const

export interface ActionProps {
  context: Context
  incident: ShownIncident
  path: string
  /** address of the signed-in user */
  own: string
  canEscalate: boolean
}

/** The buttons of an open incident. */
export function Actions({ context, incident, path, own, canEscalate }: ActionProps) {
  const isAcknowledged = incident.state === 'acknowledged'
  const isTaken = incident.ackBy === own && incident.assignee === own && !incident.isSnoozed
  return (
    <div class="row incident-actions">
      {isAcknowledged ? (
        <ButtonForm context={context} action={`${path}/unack`} label="Remove the acknowledgement" />
      ) : (
        <FieldForm
          context={context}
          action={`${path}/ack`}
          class="inline-fields form-wide"
          items={[{ name: 'note', label: 'Note', maxLength: 2000, placeholder: 'I am looking at it' }]}
          submit="Acknowledge"
          isMain
        />
      )}
      {!isTaken && <ButtonForm context={context} action={`${path}/take`} label="Take" />}
      <details class="menu">
        <summary>Mute</summary>
        <Form context={context} action={`${path}/ack`} class="inline">
          <label for="for">No alerts for</label>
          <select id="for" name="for">
            {SNOOZES.map((seconds) => (
              <option key={seconds} value={seconds}>
                {seconds === HOUR ? '1 hour' : `${seconds / HOUR} hours`}
              </option>
            ))}
          </select>
          <button type="submit">Mute</button>
        </Form>
      </details>
      {canEscalate && !incident.isEscalating && (
        <ButtonForm context={context} action={`${path}/escalate`} label="Escalate now" />
      )}
    </div>
  )
}

interface AssigneeProps {
  context: Context
  incident: ShownIncident
  path: string
  people: readonly { email: string; name: string }[]
}

export function Assignee({ context, incident, path, people }: AssigneeProps) {
  return (
    <Form context={context} action={`${path}/assign`} class="inline">
      <label class="hidden" for="to">
        Assigned to
      </label>
      <select id="to" name="to">
        <option value="">No person</option>
        {people.map(({ email, name }) => (
          <option key={email} value={email} selected={incident.assignee?.toLowerCase() === email.toLowerCase()}>
            {name || email}
          </option>
        ))}
      </select>
      {incident.state !== 'resolved' && <CheckBox name="notify" label="Notify" isChecked />}
      <button type="submit">Assign</button>
    </Form>
  )
}
