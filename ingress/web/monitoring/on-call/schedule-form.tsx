import type { Shift } from '#shared/monitoring/on-call/on-call.ts'
import { Fields, type FormItem } from '../../forms/fields.tsx'
import { EditForm } from '../../forms/form.tsx'
import { TimeZones } from '../../forms/inputs.tsx'
import { Crumb } from '../../shell/basics.tsx'
import type { Context } from '../../shell/context.ts'
import { MAX_LAYERS, type ScheduleFormState } from './form-state.ts'
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
  nameOf: (address: string) => string
  /** addresses of the persons who may be on call */
  members: readonly string[]
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
        more={button('draft', 'Preview')}
      >
        <Fields items={HEAD} {...shown} />
        <h2 id="layers">Layers</h2>
        <p class="hint">The first layer that yields a person applies. Possible people: {members.join(', ')}.</p>
        <input type="hidden" name="layers" value={state.layers} />
        {Array.from({ length: state.layers }, (_, index) => (
          <fieldset key={index}>
            <legend>Layer {index + 1}</legend>
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
            <ShiftTable shifts={shifts.slice(0, 6)} nameOf={props.nameOf} tz={props.tz} label="Next shifts" />
          )}
        </section>
        <Fields items={[...(schedule ? [EFFECTIVE] : []), MORE]} {...shown} />
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

function layerItems(path: string): FormItem[] {
  return [
    { name: `${path}.name`, label: 'Name of the layer', maxLength: 100 },
    {
      name: `${path}.people`,
      label: 'People',
      kind: 'lines',
      rows: 3,
      hint: 'One e-mail address per line, in the order of their turns.',
    },
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
        { name: `${path}.rotation.every`, label: 'Every', hint: 'Hours, days or weeks per turn.' },
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
      hint: 'Only with days, for example mon-fri: free days do not use up a turn. Empty: all.',
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

const MORE: FormItem = {
  summary: 'Fallback, coverage, holidays, who may see it',
  items: [
    { name: 'fallback', label: 'Fallback', kind: 'email', hint: 'On call when no other person is.' },
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
  ],
}
