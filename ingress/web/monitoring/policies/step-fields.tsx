import type { StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import { Fields, type FormItem } from '../../forms/fields.tsx'
import { SegmentField } from '../../forms/inputs.tsx'
import { IntegrationChoice } from '../choices.tsx'
import { PeopleChoice, type PersonOption } from './people-choice.tsx'
import { MAX_HOURS, type PolicyFormState } from './policy-state.ts'

interface Props {
  index: number
  state: PolicyFormState
  errors: ReadonlyMap<string, string>
  integrations: readonly StoredIntegration[]
  people: readonly PersonOption[]
  action: string
}

/** A longer list of people and schedules is folded. */
const SHOWN_PEOPLE = 8

export function StepFields({ index, state, errors, integrations, people, action }: Props) {
  const { values, steps } = state
  const path = `steps[${index}]`
  const chosen = steps[index]?.integrations ?? new Set()
  const shown = { values, errors }
  return (
    <fieldset id={`step-${index + 1}`}>
      <legend>Step {index + 1}</legend>
      <Fields
        items={[
          {
            name: `${path}.wait`,
            label: `Wait before step ${index + 1}`,
            kind: 'duration',
            hint: index === 0 ? 'After the check counts as down; 0: at once.' : `After step ${index} has begun.`,
          },
        ]}
        {...shown}
      />
      <Receivers
        index={index}
        whom={values[`${path}.whom`] || 'own'}
        chosen={chosen}
        integrations={integrations}
        error={errors.get(`${path}.channels`)}
      />
      {people.length + (steps[index]?.people.size ?? 0) > 0 && (
        <details class="more" open={people.length <= SHOWN_PEOPLE || (steps[index]?.people.size ?? 0) > 0}>
          <summary>Notify people</summary>
          <PeopleChoice
            name={`${path}.people`}
            options={people}
            chosen={steps[index]?.people ?? new Set()}
            error={errors.get(`${path}.people`)}
          />
        </details>
      )}
      <Fields items={repetition(path)} {...shown} />
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

function repetition(path: string): FormItem[] {
  return [
    {
      name: `${path}.repeat.every`,
      label: 'Repeat every',
      kind: 'duration',
      hint: 'While the check is down and not acknowledged. Empty: not repeated.',
    },
    {
      class: 'columns',
      items: [
        {
          name: `${path}.repeat.times`,
          label: 'Repeat at most',
          hint: 'Number of times. Empty: until the incident ends.',
        },
        {
          name: `${path}.severity`,
          label: 'Only for checks that are',
          kind: 'select',
          value: 'info',
          options: [
            { value: 'info', label: 'of any severity' },
            { value: 'warning', label: 'warning or critical' },
            { value: 'critical', label: 'critical' },
          ],
        },
      ],
    },
  ]
}

function Receivers(props: {
  index: number
  whom: string
  chosen: ReadonlySet<string>
  integrations: readonly StoredIntegration[]
  error: string | undefined
}) {
  const { index, whom, chosen, integrations, error } = props
  const path = `steps[${index}]`
  const errorId = `${path}.channels-error`
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset within a fieldset draws a box within a box
    <div
      class="stack"
      role="group"
      aria-label={`Recipients of step ${index + 1}`}
      aria-describedby={error ? errorId : undefined}
    >
      <SegmentField
        label="Notify"
        name={`${path}.whom`}
        value={whom}
        options={[
          { value: 'own', label: 'Integrations of the check' },
          { value: 'chosen', label: 'Selected integrations' },
          ...(whom === 'both' ? [{ value: 'both', label: 'Both' }] : []),
          { value: 'none', label: 'No integrations' },
        ]}
      />
      <IntegrationChoice name={`${path}.channels`} integrations={integrations} chosen={chosen} isDependent />
      {error !== undefined && (
        <p class="field-error" id={errorId}>
          {error}
        </p>
      )}
    </div>
  )
}

function Hours({ index, state, errors, action }: Omit<Props, 'integrations' | 'people'>) {
  const path = `steps[${index}]`
  const count = state.steps[index]?.hours ?? 0
  const rows = Array.from({ length: count }, (_, at) => `${path}.hours[${at}]`)
  return (
    <details class="more" open={count > 0}>
      <summary>Active hours</summary>
      <div class="stack">
        {count === 0 && <p class="muted">This step notifies at any hour.</p>}
        <Fields items={rows.flatMap(hoursFields)} values={state.values} errors={errors} />
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
        <Fields
          items={[
            {
              name: `${path}.outside`,
              label: 'Outside of these hours',
              kind: 'select',
              value: 'wait',
              options: [
                { value: 'wait', label: 'wait until they begin' },
                { value: 'skip', label: 'skip the step' },
              ],
            },
          ]}
          values={state.values}
        />
      </div>
    </details>
  )
}

function hoursFields(row: string, at: number): FormItem[] {
  return [
    {
      class: 'stack',
      items: [
        { content: <p class="sub">Notifies {at === 0 ? '' : 'also '}from</p> },
        {
          class: 'columns',
          items: [
            {
              name: `${row}.every`,
              label: 'Begin',
              placeholder: 'Mon..Fri 08:00',
              hint: 'Cron or OnCalendar. Empty: these hours are removed.',
              isMono: true,
            },
            { name: `${row}.tz`, label: 'Time zone', list: 'time-zones' },
          ],
        },
        { name: `${row}.for`, label: 'For', kind: 'duration' },
      ],
    },
  ]
}
