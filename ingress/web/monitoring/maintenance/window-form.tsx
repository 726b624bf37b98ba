import { CheckChoice } from '../../components/choices.tsx'
import { TimeZones } from '../../components/form.tsx'
import type { FormItem } from '../../forms/fields.tsx'
import { EditForm } from '../../forms/form.tsx'
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

/** The form of a new or existing maintenance window. */
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
        items={[
          {
            legend: 'What',
            items: [
              ...WHICH,
              {
                content: (
                  <CheckChoice
                    label="Add a check"
                    checks={checks}
                    chosen={state.checks}
                    typed={values.add_check}
                    error={errors.get('add_check')}
                    hint="By its name; save for another one."
                  />
                ),
              },
            ],
          },
          WHEN,
          MEANING,
        ]}
        values={{ ...values, ...Object.fromEntries([...flags].map((name) => [name, 'on'])) }}
        submit={window ? 'Save' : 'Plan it'}
        cancel={base}
      />
      <TimeZones />
    </>
  )
}

const WHICH: readonly FormItem[] = [
  { name: 'name', label: 'Name', maxLength: 100, placeholder: 'Patch night' },
  {
    name: 'match',
    label: 'Tags',
    maxLength: 500,
    hint: 'Checks that have all of these; * for the whole project. Empty: only the checks below.',
  },
]

const KINDS = [
  { value: 'once', label: 'Once' },
  { value: 'recurring', label: 'Recurring' },
]

const WHEN: FormItem = {
  legend: 'When',
  items: [
    { name: 'kind', label: 'Repetition', kind: 'segments', options: KINDS, value: 'once' },
    {
      class: 'columns',
      items: [
        {
          class: 'if-once',
          items: [
            { name: 'starts', label: 'Starts', kind: 'datetime', hint: 'In the time zone of this form. Empty: now.' },
          ],
        },
        {
          class: 'if-recurring',
          items: [
            { name: 'every', label: 'Begin at', placeholder: 'Sat 02:00', hint: 'Cron or OnCalendar.', isMono: true },
          ],
        },
        { name: 'tz', label: 'Time zone', list: 'time-zones' },
      ],
    },
    { name: 'for', label: 'Lasts', kind: 'duration', hint: 'At most 30 days.' },
  ],
}

const MEANING: FormItem = {
  legend: 'What it means',
  items: [
    {
      content: (
        <p class="muted">
          Pings are received and states change as usual. No alerts during maintenance; anything still down is reported
          at the end. Recoveries are reported at once.
        </p>
      ),
    },
    { name: 'exclude', label: 'It does not count as uptime or downtime', kind: 'check' },
    { name: 'shown', label: 'Show it on the status page', kind: 'check' },
  ],
}
