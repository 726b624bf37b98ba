import type { JsonObject, JsonValue } from '#shared/monitoring/checks/json-body.ts'
import type { Window } from '#shared/monitoring/maintenance/window.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { resolveTimeZone } from '#shared/monitoring/schedules/time-zones.ts'
import { microsOfDate, microsOfSeconds, toIsoSeconds, toSeconds } from '#shared/time.ts'
import type { FormItem } from '../../forms/fields.tsx'
import { EditForm } from '../../forms/form.tsx'
import { TimeZones } from '../../forms/inputs.tsx'
import { Crumb } from '../../shell/basics.tsx'
import { type Context, field } from '../../shell/context.ts'
import { secondsOf, splitDuration } from '../../shell/format.ts'
import { CheckChoice } from '../choices.tsx'

interface Props {
  context: Context
  base: string
  /** null for a new window */
  window: { uuid: string; name: string } | null
  state: WindowFormState
  /** by field name; '' for errors without a field */
  errors: ReadonlyMap<string, string>
  checks: readonly { uuid: string; name: string }[]
}

export function WindowForm({ context, base, window, state, errors, checks }: Props) {
  const { values, flags } = state
  return (
    <>
      <Crumb href={base} label="Maintenance" />
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
                    hint="Enter its name. Save to add another one."
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

export interface WindowFormState {
  values: Readonly<Record<string, string>>
  flags: ReadonlySet<string>
  /** uuids */
  checks: readonly string[]
}

const TEXTS = ['name', 'match', 'kind', 'starts', 'every', 'for', 'for_unit', 'tz', 'add_check']
const FLAGS = ['exclude', 'shown']
/** Format of inputs for date and time, with or without seconds. */
const LOCAL = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)$/

/** A new window covers the next hour. */
export const NEW_WINDOW: WindowFormState = {
  values: { name: '', match: '', kind: 'once', starts: '', every: '', for: '1', for_unit: 'hours', tz: 'UTC' },
  flags: new Set(['exclude']),
  checks: [],
}

/** Converts the start to UTC. */
export function stateOfWindow({ name, match, checks, time, uptime, shown }: Window): WindowFormState {
  const isOnce = 'starts' in time
  const { count, unit } = splitDuration(isOnce ? toSeconds(time.ends - time.starts) : time.for)
  return {
    values: {
      name,
      match,
      kind: isOnce ? 'once' : 'recurring',
      starts: isOnce ? toIsoSeconds(time.starts).slice(0, 19) : '',
      every: isOnce ? '' : time.every,
      for: String(count),
      for_unit: unit,
      tz: isOnce ? 'UTC' : time.tz,
    },
    flags: new Set([...(uptime === 'exclude' ? ['exclude'] : []), ...(shown ? ['shown'] : [])]),
    checks,
  }
}

export function stateOfForm(form: URLSearchParams): WindowFormState {
  return {
    values: Object.fromEntries(TEXTS.map((name) => [name, field(form, name)])),
    flags: new Set(FLAGS.filter((name) => form.has(name))),
    checks: form.getAll('check').slice(0, 500),
  }
}

/** Returns a request of the API. Members of the other kind of time are reset. */
export function bodyOfState({ values, flags, checks }: WindowFormState): JsonObject {
  const at = (name: string): string => values[name] ?? ''
  const length = at('for') === '' ? null : wholeSeconds(at('for'), at('for_unit'))
  const time: JsonObject =
    at('kind') === 'recurring'
      ? { every: at('every'), for: length, tz: at('tz') || null }
      : { starts: at('starts') === '' ? null : instantIn(at('starts'), at('tz')), for: length }
  return {
    name: at('name'),
    match: at('match'),
    checks: [...checks],
    ...time,
    uptime: flags.has('exclude') ? 'exclude' : 'count',
    shown: flags.has('shown'),
  }
}

function wholeSeconds(text: string, unit: string): JsonValue {
  const seconds = secondsOf(text, unit)
  return Number.isInteger(seconds) ? seconds : text
}

/**
 * Converts local date and time to an instant; a time skipped by a clock change moves as in a schedule. Returns other
 * text unchanged, for the API's validation to refuse.
 */
function instantIn(text: string, tz: string): string {
  const [, date, time] = LOCAL.exec(text) ?? []
  const zone = resolveTimeZone(tz || 'UTC')
  const near = new Date(`${date}T${time}Z`)
  if (date === undefined || zone === null || Number.isNaN(near.getTime())) return text
  const at = nextOccurrence('oncalendar', `${date} ${time}`, zone, microsOfDate(near) - microsOfSeconds(2 * 86_400))
  return at === null ? text : toIsoSeconds(at)
}

const RULES: readonly { name: RegExp; field: string; text: string }[] = [
  { name: /^name$/, field: 'name', text: 'At most 100 characters.' },
  { name: /^match$/, field: 'match', text: 'Choose checks: tags, * for all of them, or checks by name below.' },
  { name: /^checks/, field: 'add_check', text: 'At most 500 checks; use tags.' },
  { name: /^starts$/, field: 'starts', text: 'A date and a time, as 2026-11-22 01:00.' },
  {
    name: /^every$/,
    field: 'every',
    text: 'This is neither a cron nor an OnCalendar expression, or it never occurs in the time zone.',
  },
  { name: /^(for|ends)$/, field: 'for', text: 'A number; from 1 minute to 30 days.' },
  { name: /^tz$/, field: 'tz', text: 'There is no such time zone.' },
]

/** Returns the API's error by field; '' if no field has it. */
export function errorsOf(message: string): ReadonlyMap<string, string> {
  const path = /^json validation error: (\S+) /.exec(message)?.[1] ?? ''
  const rule = RULES.find(({ name }) => name.test(path))
  return new Map([rule ? [rule.field, rule.text] : ['', message]])
}

/** The API checks the time zone only for some forms. */
export function hasUnknownZone({ values }: WindowFormState): boolean {
  return resolveTimeZone(values.tz || 'UTC') === null
}
