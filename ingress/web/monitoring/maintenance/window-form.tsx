import { CheckChoice } from '../../components/choices.tsx'
import { EditForm } from '../../components/edit-form.tsx'
import { CheckBox, DurationField, TextField, TimeZones } from '../../components/form.tsx'
import { Segments } from '../../components/segments.tsx'
import type { Context } from '../../shell/context.ts'
import type { WindowFormState } from './window-state.ts'

interface Props {
  context: Context
  /** path of the list */
  base: string
  /** null for a new one */
  window: { uuid: string; name: string } | null
  state: WindowFormState
  /** by the names of fields; under '' what belongs to none */
  errors: ReadonlyMap<string, string>
  checks: readonly { uuid: string; name: string }[]
}

/** A maintenance window to be filled in. */
export function WindowForm({ context, base, window, state, errors, checks }: Props) {
  const { values, flags } = state
  return (
    <>
      <p class="crumb">
        <a href={base}>Maintenance</a>
      </p>
      <h1>{window ? window.name || 'Maintenance' : 'Plan maintenance'}</h1>
      <EditForm
        context={context}
        action={window ? `${base}/${window.uuid}` : `${base}/new`}
        errors={errors}
        submit={window ? 'Save' : 'Plan it'}
        cancel={base}
      >
        <fieldset>
          <legend>What</legend>
          <TextField
            label="Name"
            name="name"
            value={values.name}
            error={errors.get('name')}
            maxLength={100}
            placeholder="Patch night"
          />
          <TextField
            label="Tags"
            name="match"
            value={values.match}
            error={errors.get('match')}
            maxLength={500}
            hint="Checks that have all of these; * for the whole project. Empty: only the checks below."
          />
          <CheckChoice
            label="Add a check"
            checks={checks}
            chosen={state.checks}
            typed={values.add_check}
            error={errors.get('add_check')}
            hint="By its name; save for another one."
          />
        </fieldset>
        <When values={values} errors={errors} />
        <fieldset>
          <legend>What it means</legend>
          <p class="muted">
            Pings are taken and states change as ever. Messages wait for the end; recoveries are told at once.
          </p>
          <CheckBox name="exclude" isChecked={flags.has('exclude')} label="It does not count as uptime or downtime" />
          <CheckBox name="shown" isChecked={flags.has('shown')} label="The status page tells of it" />
        </fieldset>
      </EditForm>
      <TimeZones />
    </>
  )
}

function When({ values, errors }: { values: WindowFormState['values']; errors: Props['errors'] }) {
  return (
    <fieldset>
      <legend>When</legend>
      <Segments
        name="kind"
        value={values.kind === 'recurring' ? 'recurring' : 'once'}
        options={[
          { value: 'once', label: 'Once' },
          { value: 'recurring', label: 'Recurring' },
        ]}
      />
      <div class="columns">
        <div class="if-once">
          <TextField
            label="Starts"
            name="starts"
            value={values.starts}
            error={errors.get('starts')}
            type="datetime-local"
            hint="By the clock of the time zone. Empty: now."
          />
        </div>
        <div class="if-recurring">
          <TextField
            label="Begin at"
            name="every"
            value={values.every}
            error={errors.get('every')}
            placeholder="Sat 02:00"
            hint="Cron or OnCalendar."
            isMono
          />
        </div>
        <TextField label="Time zone" name="tz" value={values.tz} error={errors.get('tz')} list="time-zones" />
      </div>
      <DurationField label="Lasts" name="for" values={values} error={errors.get('for')} hint="At most 30 days." />
    </fieldset>
  )
}
