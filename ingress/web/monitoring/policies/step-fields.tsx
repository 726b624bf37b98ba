import type { StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import { IntegrationChoice } from '../../components/choices.tsx'
import { DurationField, SelectField, TextField } from '../../components/form.tsx'
import { SegmentField } from '../../components/segments.tsx'
import { MAX_HOURS, type PolicyFormState } from './policy-state.ts'

interface Props {
  index: number
  state: PolicyFormState
  errors: ReadonlyMap<string, string>
  channels: readonly StoredIntegration[]
  /** where the form is sent */
  action: string
}

/** One step of a plan: when it speaks, to whom, how often, at what hours. */
export function StepFields({ index, state, errors, channels, action }: Props) {
  const { values, steps } = state
  const path = `steps[${index}]`
  const chosen = steps[index]?.channels ?? new Set()
  const errorOf = (name: string) => errors.get(`${path}.${name}`)
  return (
    <fieldset id={`step-${index + 1}`}>
      <legend>Step {index + 1}</legend>
      <DurationField
        label="Wait"
        name={`${path}.wait`}
        values={values}
        error={errorOf('wait')}
        hint={index === 0 ? 'After the check counts as down; 0: at once.' : `After step ${index} has begun.`}
      />
      <Receivers
        index={index}
        isOwn={values[`${path}.whom`] !== 'chosen'}
        chosen={chosen}
        channels={channels}
        error={errorOf('channels')}
      />
      <DurationField
        label="Repeat every"
        name={`${path}.repeat.every`}
        values={values}
        error={errorOf('repeat.every')}
        hint="While the check is down and nobody has acknowledged it. Empty: not repeated."
      />
      <div class="columns">
        <TextField
          label="Repeat at most"
          name={`${path}.repeat.times`}
          value={values[`${path}.repeat.times`]}
          error={errorOf('repeat.times')}
          hint="Times. Empty: until it ends."
        />
        <SelectField
          label="Only for checks that are"
          name={`${path}.severity`}
          value={values[`${path}.severity`] ?? 'info'}
          options={[
            { value: 'info', label: 'of any severity' },
            { value: 'warning', label: 'warning or critical' },
            { value: 'critical', label: 'critical' },
          ]}
        />
      </div>
      <Hours index={index} state={state} errors={errors} action={action} />
      {steps.length > 1 && (
        <p>
          <button type="submit" name="do" value={`remove-step-${index}`} formAction={`${action}#plan`} formNoValidate>
            Remove step {index + 1}
          </button>
        </p>
      )}
      <input type="hidden" name={`${path}.hours`} value={steps[index]?.hours ?? 0} />
    </fieldset>
  )
}

function Receivers(props: {
  index: number
  isOwn: boolean
  chosen: ReadonlySet<string>
  channels: readonly StoredIntegration[]
  error: string | undefined
}) {
  const { index, isOwn, chosen, channels, error } = props
  const path = `steps[${index}]`
  const errorId = `${path}.channels-error`
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset within a fieldset draws a box within a box
    <div
      class="stack"
      role="group"
      aria-label={`Who is told by step ${index + 1}`}
      aria-describedby={error ? errorId : undefined}
    >
      <SegmentField
        label="Tell"
        name={`${path}.whom`}
        value={isOwn ? 'own' : 'chosen'}
        options={[
          { value: 'own', label: 'The check’s own' },
          { value: 'chosen', label: 'These' },
        ]}
      />
      <IntegrationChoice name={`${path}.channels`} channels={channels} chosen={chosen} isDependent />
      {error !== undefined && (
        <p class="field-error" id={errorId}>
          {error}
        </p>
      )}
    </div>
  )
}

function Hours({ index, state, errors, action }: Omit<Props, 'channels'>) {
  const path = `steps[${index}]`
  const count = state.steps[index]?.hours ?? 0
  const rows = Array.from({ length: count }, (_, at) => `${path}.hours[${at}]`)
  return (
    <details class="more" open={count > 0}>
      <summary>Quiet hours</summary>
      <div class="stack">
        {count === 0 && <p class="muted">This step may speak at any hour.</p>}
        {rows.map((row, at) => (
          <div class="stack" key={row}>
            <p class="sub">It may speak {at === 0 ? '' : 'also '}from</p>
            <div class="columns">
              <TextField
                label="Begin"
                name={`${row}.every`}
                value={state.values[`${row}.every`]}
                error={errors.get(`${row}.every`)}
                placeholder="Mon..Fri 08:00"
                hint="Cron or OnCalendar. Empty: these hours are removed."
                isMono
              />
              <TextField
                label="Time zone"
                name={`${row}.tz`}
                value={state.values[`${row}.tz`]}
                error={errors.get(`${row}.tz`)}
                list="time-zones"
              />
            </div>
            <DurationField label="For" name={`${row}.for`} values={state.values} error={errors.get(`${row}.for`)} />
          </div>
        ))}
        {count < MAX_HOURS && (
          <p>
            <button
              type="submit"
              name="do"
              value={`add-hours-${index}`}
              formAction={`${action}#step-${index + 1}`}
              formNoValidate
            >
              {count === 0 ? 'Limit it to certain hours' : 'Add hours'}
            </button>
          </p>
        )}
        <SelectField
          label="Outside of these hours"
          name={`${path}.outside`}
          value={state.values[`${path}.outside`] ?? 'wait'}
          options={[
            { value: 'wait', label: 'wait until they begin' },
            { value: 'skip', label: 'leave it out' },
          ]}
        />
      </div>
    </details>
  )
}
