import type { RecurringTime } from '#shared/monitoring/alerting/policy.ts'
import type { JsonObject, JsonValue } from '#shared/monitoring/checks/json-body.ts'
import {
  type ContactRules,
  MAX_ENTRIES,
  MAX_QUIET,
  type OnCallSettings,
  RULE_LISTS,
  type RuleList,
} from '#shared/monitoring/contacts/contact-rules.ts'
import type { FieldErrors, FormItem, FormValues } from '../../forms/fields.tsx'
import { FieldForm } from '../../forms/form.tsx'
import { TimeZones } from '../../forms/inputs.tsx'
import { type Context, field } from '../../shell/context.ts'
import { secondsOf, splitDuration } from '../../shell/format.ts'

/** A form that was not saved, or what is stored. */
export interface FormState {
  values: FormValues
  errors: FieldErrors
}

interface MethodOption {
  id: string
  label: string
}

/** Empty rows after the stored ones; saving adds more. */
const SPARE_ROWS = 2

const LIST_TITLES: Readonly<Record<RuleList, string>> = {
  critical: 'Critical incidents',
  other: 'Other incidents',
}

export function RulesForm(props: { context: Context; methods: readonly MethodOption[]; state: FormState }) {
  const { context, methods, state } = props
  const options = [{ value: '', label: '–' }, ...methods.map(({ id, label }) => ({ value: id, label }))]
  return (
    <FieldForm
      context={context}
      action="/account/notifications/rules"
      items={RULE_LISTS.map((list) => ({
        legend: LIST_TITLES[list],
        class: 'stack',
        items: [
          { content: <p class="hint">{EMPTY[list]}</p> },
          ...rowsOf(state.values, list).flatMap((row) => entryItems(row, options)),
        ],
      }))}
      values={state.values}
      errors={state.errors}
      submit="Save rules"
    />
  )
}

const EMPTY: Readonly<Record<RuleList, string>> = {
  critical: 'Without rules: all usable methods at once, and a call after 5 minutes.',
  other: 'Severity warning and info. Without rules: as critical incidents.',
}

function rowsOf(values: FormValues, list: RuleList): string[] {
  const used = Array.from({ length: MAX_ENTRIES }, (_, index) => `${list}[${index}]`).filter(
    (row) => (values[`${row}.method`] ?? '') !== '',
  ).length
  return Array.from({ length: Math.min(MAX_ENTRIES, used + SPARE_ROWS) }, (_, index) => `${list}[${index}]`)
}

function entryItems(row: string, options: { value: string; label: string }[]): FormItem[] {
  const [, place = '0'] = /\[(\d+)\]/.exec(row) ?? []
  const n = Number(place) + 1
  return [
    {
      class: 'columns',
      items: [
        { name: `${row}.method`, label: `Method ${n}`, kind: 'select', options },
        { name: `${row}.after`, label: `After ${n}`, kind: 'duration' },
      ],
    },
  ]
}

export function valuesOfRules(rules: ContactRules): FormValues {
  const entries = RULE_LISTS.flatMap((list) =>
    rules[list].flatMap(({ after, method }, index) => {
      const { count, unit } = after === 0 ? { count: 0, unit: 'minutes' } : splitDuration(after)
      const row = `${list}[${index}]`
      return [
        [`${row}.method`, method],
        [`${row}.after`, String(count)],
        [`${row}.after_unit`, unit],
      ]
    }),
  )
  return Object.fromEntries(entries)
}

/** Skips rows without a method. `rows` are the places of the others in the form. */
export function entriesOf(form: URLSearchParams, list: RuleList): { entries: JsonValue[]; rows: string[] } {
  const rows = Array.from({ length: MAX_ENTRIES }, (_, index) => `${list}[${index}]`).filter(
    (row) => field(form, `${row}.method`) !== '',
  )
  const entries = rows.map((row) => ({
    method: field(form, `${row}.method`),
    after: durationOf(form, `${row}.after`, 0),
  }))
  return { entries, rows }
}

/** Returns other text unchanged, for the validation to refuse. */
function durationOf(form: URLSearchParams, name: string, otherwise: number | null): JsonValue {
  const text = field(form, name)
  if (text === '') return otherwise
  const seconds = secondsOf(text, form.get(`${name}_unit`))
  return Number.isInteger(seconds) ? seconds : text
}

const NOTICE_CHOICES = [
  { value: '604800', label: '7 days before' },
  { value: '172800', label: '2 days before' },
  { value: '86400', label: '1 day before' },
  { value: '3600', label: '1 hour before' },
  { value: '900', label: '15 minutes before' },
] as const

export function SettingsForm({ context, state }: { context: Context; state: FormState }) {
  const quiet = quietRows(state.values)
  return (
    <FieldForm
      context={context}
      action="/account/notifications/settings"
      items={[
        {
          legend: 'Quiet hours',
          class: 'stack',
          items: [
            {
              content: (
                <p class="hint">
                  They delay notifications of severity warning and info to their end, never critical ones.
                </p>
              ),
            },
            ...quiet.flatMap(quietItems),
          ],
        },
        {
          legend: 'Shift notices',
          class: 'stack',
          items: [
            { name: 'before', label: 'Before a shift, up to four', kind: 'choices', options: NOTICE_CHOICES },
            { name: 'start', label: 'When a shift begins', kind: 'check' },
            { name: 'end', label: 'When a shift ends', kind: 'check' },
          ],
        },
      ]}
      values={state.values}
      errors={state.errors}
      submit="Save"
    >
      <TimeZones />
    </FieldForm>
  )
}

function quietRows(values: FormValues): string[] {
  const all = Array.from({ length: MAX_QUIET }, (_, index) => `quiet[${index}]`)
  const used = all.filter((row) => (values[`${row}.every`] ?? '') !== '').length
  return all.slice(0, used + 1)
}

function quietItems(row: string): FormItem[] {
  const [, place = '0'] = /\[(\d+)\]/.exec(row) ?? []
  const n = Number(place) + 1
  return [
    {
      class: 'columns',
      items: [
        {
          name: `${row}.every`,
          label: `Begin ${n}`,
          placeholder: 'Mon..Fri 22:00',
          hint: 'A cron or OnCalendar expression.',
          isMono: true,
        },
        { name: `${row}.for`, label: `Length ${n}`, kind: 'duration' },
        { name: `${row}.tz`, label: `Time zone ${n}`, list: 'time-zones' },
      ],
    },
  ]
}

export function valuesOfSettings({ quiet, notices }: OnCallSettings, tz: string): FormValues {
  const times = quiet.flatMap((time, index) => quietValues(time, `quiet[${index}]`))
  const spare = quiet.length < MAX_QUIET ? quietValues({ every: '', for: 28_800, tz }, `quiet[${quiet.length}]`) : []
  return {
    ...Object.fromEntries([...times, ...spare]),
    before: notices.before.map(String),
    start: notices.start ? 'on' : '',
    end: notices.end ? 'on' : '',
  }
}

function quietValues({ every, for: length, tz }: RecurringTime, row: string): [string, string][] {
  const { count, unit } = splitDuration(length)
  return [
    [`${row}.every`, every],
    [`${row}.for`, String(count)],
    [`${row}.for_unit`, unit],
    [`${row}.tz`, tz],
  ]
}

export function settingsOf(form: URLSearchParams): { body: JsonObject; rows: string[] } {
  const rows = Array.from({ length: MAX_QUIET }, (_, index) => `quiet[${index}]`).filter(
    (row) => field(form, `${row}.every`) !== '',
  )
  const quiet = rows.map((row) => ({
    every: field(form, `${row}.every`),
    for: durationOf(form, `${row}.for`, null),
    tz: field(form, `${row}.tz`) || null,
  }))
  const before = form.getAll('before').map(Number)
  return { body: { quiet, notices: { before, start: form.has('start'), end: form.has('end') } }, rows }
}

/** Returns the submitted texts, for a form that was not saved. */
export function sentValues(form: URLSearchParams): FormValues {
  return { ...Object.fromEntries(form), before: form.getAll('before') }
}

/** Places the error of a `json validation error` at its field; `rows` map the validated places to those of the form. */
export function errorsOf(message: string, rows: Readonly<Record<string, readonly string[]>>): FieldErrors {
  const [, path = '', text = message] = /^json validation error: (\S+) (.*)$/.exec(message) ?? []
  const [, list = '', index = '0', member = ''] = /^(\w+)\[(\d+)\](.*)$/.exec(path) ?? []
  const row = rows[list]?.[Number(index)]
  const name = row === undefined ? path.replace(/^notices\.|\[.*$/g, '') : `${row}${member || '.method'}`
  return new Map([[name, `${text.charAt(0).toUpperCase()}${text.slice(1)}.`]])
}
