import type { StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import type { Shift } from '#shared/monitoring/on-call/on-call.ts'
import type { Micros } from '#shared/time.ts'
import { Fields, type FormItem } from '../../forms/fields.tsx'
import { EditForm } from '../../forms/form.tsx'
import { TimeZones } from '../../forms/inputs.tsx'
import { Crumb } from '../../shell/basics.tsx'
import type { Context } from '../../shell/context.ts'
import { IntegrationChoice } from '../choices.tsx'
import { INTEGRATIONS, MAX_LAYERS, peopleOf, type ScheduleFormState } from './form-state.ts'
import { fallbackField, type Member, PeopleField } from './people-field.tsx'
import { ShiftTable } from './shift-table.tsx'

interface Props {
  context: Context
  base: string
  /** null for a new one */
  schedule: { uuid: string; name: string } | null
  state: ScheduleFormState
  errors: ReadonlyMap<string, string>
  /** the next shifts; null if the form has errors */
  shifts: readonly Shift[] | null
  /** end of the previewed time */
  cutAt: Micros
  nameOf: (address: string) => string
  /** the persons who may be on call */
  members: readonly Member[]
  integrations: readonly StoredIntegration[]
  tz: string
}

/** Buttons that add, move and remove layers submit the form, which returns with its values. */
export function ScheduleForm(props: Props) {
  const { context, base, schedule, state, errors, shifts, members } = props
  const action = schedule ? `${base}/${schedule.uuid}/edit` : `${base}/new`
  const shown = { values: state.values, errors }
  const button = (value: string, label: string) => (
    <button type="submit" name="do" value={value} formAction={`${action}#layers`} formNoValidate>
      {label}
    </button>
  )
  return (
    <>
      <Crumb href={schedule ? `${base}/${schedule.uuid}` : base} label={schedule?.name ?? 'On call'} />
      <h1>{schedule ? `Edit ${schedule.name}` : 'New schedule'}</h1>
      <EditForm
        context={context}
        action={action}
        errors={errors}
        submit={schedule ? 'Save' : 'Create schedule'}
        cancel={schedule ? `${base}/${schedule.uuid}` : base}
        more={
          <>
            {button('draft', 'Preview')}
            {schedule && (
              <button
                type="submit"
                name="try"
                value="on"
                formAction={base.replace(/\/on-call$/, '/simulator')}
                formNoValidate
              >
                Try it in the simulator
              </button>
            )}
          </>
        }
      >
        {schedule && <input type="hidden" name="schedule" value={schedule.uuid} />}
        <Fields items={HEAD} {...shown} />
        <h2 id="layers">Layers</h2>
        <p class="hint">The first layer that yields a person applies.</p>
        <input type="hidden" name="layers" value={state.layers} />
        {Array.from({ length: state.layers }, (_, index) => (
          <fieldset key={index} id={`layer-${index + 1}`}>
            <legend>Layer {index + 1}</legend>
            <Fields items={[nameOfLayer(`layers[${index}]`)]} {...shown} />
            <PeopleField
              layer={index}
              people={peopleOf(state, index)}
              members={members}
              error={errors.get(`layers[${index}].people`)}
              action={action}
            />
            <Fields items={layerItems(`layers[${index}]`)} {...shown} />
            <p class="row">
              {index > 0 && button(`up-${index}`, `Move layer ${index + 1} up`)}
              {button(`remove-${index}`, `Remove layer ${index + 1}`)}
            </p>
          </fieldset>
        ))}
        {state.layers < MAX_LAYERS && <p>{button('add', 'Add a layer')}</p>}
        <section aria-labelledby="next-shifts">
          <h2 id="next-shifts">Next shifts</h2>
          {shifts === null ? (
            <p class="empty">Fix the fields above to see them.</p>
          ) : (
            <ShiftTable
              shifts={shifts.slice(0, 6)}
              nameOf={props.nameOf}
              tz={props.tz}
              label="Next shifts"
              cutAt={props.cutAt}
            />
          )}
        </section>
        <Fields items={[...(schedule ? [EFFECTIVE] : []), noticesOf(props), moreOf(props)]} {...shown} />
      </EditForm>
      <TimeZones />
    </>
  )
}

const HEAD: readonly FormItem[] = [
  {
    class: 'columns',
    items: [
      { name: 'name', label: 'Name', maxLength: 100, isRequired: true, placeholder: 'Primary' },
      { name: 'tz', label: 'Time zone', list: 'time-zones' },
    ],
  },
]

function nameOfLayer(path: string): FormItem {
  return { name: `${path}.name`, label: 'Name of the layer', maxLength: 100 }
}

function layerItems(path: string): FormItem[] {
  return [
    {
      class: 'columns',
      items: [
        {
          name: `${path}.rotation.unit`,
          label: 'Hand over each',
          kind: 'select',
          options: [
            { value: 'hour', label: 'hour' },
            { value: 'day', label: 'day' },
            { value: 'week', label: 'week' },
          ],
        },
        { name: `${path}.rotation.every`, label: 'Every', hint: 'Hours, days or weeks per shift.' },
      ],
    },
    {
      class: 'columns',
      items: [
        { name: `${path}.start`, label: 'First handoff', kind: 'datetime', hint: 'In the zone of the schedule.' },
        { name: `${path}.end`, label: 'Ends', kind: 'datetime', hint: 'Empty: never.' },
      ],
    },
    {
      name: `${path}.hours`,
      label: 'Hours',
      kind: 'lines',
      rows: 2,
      isMono: true,
      hint: 'One per line, for example mon-fri 09:00-18:00. Empty: always. Holidays are the day hol.',
    },
    {
      name: `${path}.rotation.on`,
      label: 'Days that count',
      hint: 'Only with days, for example mon-fri: only these days count for the length of a shift. Empty: all.',
    },
  ]
}

const EFFECTIVE: FormItem = {
  name: 'effective',
  label: 'The change is effective',
  kind: 'segments',
  options: [
    { value: 'now', label: 'Now' },
    { value: 'handoff', label: 'From the next handoff' },
  ],
}

function noticesOf({ state, errors, integrations }: Props): FormItem {
  const chosen = new Set((state.values[INTEGRATIONS] ?? '').split(','))
  const error = errors.get(INTEGRATIONS)
  return {
    legend: 'Send each change of the person to',
    items: [
      { content: <IntegrationChoice name={INTEGRATIONS} integrations={integrations} chosen={chosen} /> },
      ...(error === undefined ? [] : [{ content: <p class="field-error">{error}</p> }]),
    ],
  }
}

function moreOf({ state, members }: Props): FormItem {
  const items = [fallbackField(members, state.values.fallback ?? ''), ...MORE]
  return { summary: 'Fallback, coverage, holidays, who may see it', items }
}

const MORE: readonly FormItem[] = [
  {
    name: 'coverage',
    label: 'A person is expected',
    kind: 'select',
    options: [
      { value: 'always', label: 'always' },
      { value: 'hours', label: 'in the hours below' },
      { value: 'none', label: 'never: no warnings about gaps' },
    ],
  },
  { name: 'coverage_hours', label: 'Expected hours', kind: 'lines', rows: 2, isMono: true },
  { name: 'holidays', label: 'Holidays', kind: 'lines', rows: 3, hint: 'One date per line: 2026-12-25.' },
  { name: 'gaps', label: 'Mail owners and managers about coverage gaps', kind: 'check' },
  { name: 'shared', label: 'Other projects of the organisation may use it', kind: 'check' },
  { name: 'show_names', label: 'Read-only keys and metrics see names', kind: 'check' },
]
