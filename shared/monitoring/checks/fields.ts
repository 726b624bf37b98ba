import {
  accepted,
  type ChoiceFormat,
  choice,
  type FlagFormat,
  flag,
  type Reading,
  refused,
  type SecondsFormat,
  type SpecRules,
  seconds,
  type TextFormat,
  text,
} from './formats.ts'
import { isSlug, MAX_NAME_LENGTH } from './slug.ts'

interface Descriptor<Api extends string | null> {
  /** member of the v3 API, of project documents and of forms; null for a derived setting */
  api: Api
  column: string
  label: string
  note?: string
}

export type CheckField<Api extends string | null = string | null> = Descriptor<Api> &
  (TextFormat | FlagFormat | SecondsFormat | ChoiceFormat<string>)

export type FieldGroup = Readonly<Record<string, CheckField>>

/** By default the column has the name of the API member. */
function setting<const Api extends string, Format>(
  api: Api,
  format: Format,
  { column = api, ...words }: { label: string; note?: string; column?: string },
): Format & Descriptor<Api> {
  return { ...format, ...words, api, column }
}

const MAX_DESC_LENGTH = 10_000

const slug = (value: string) => (isSlug(value) ? accepted(value) : refused('% does not match pattern'))

const schedule = (value: string, rules: SpecRules) =>
  rules.isValidSchedule(value) ? accepted(value) : refused('% is not a valid cron or OnCalendar expression')

/** Replaces an outdated name of a zone by its current name. */
function zone(value: string, rules: SpecRules): Reading<string> {
  const name = rules.resolveTimeZone(value)
  return name === null ? refused('% is not a valid timezone') : accepted(name)
}

/** Responses, documents and forms begin with these settings. Add a plain text setting here. */
export const IDENTITY_FIELDS = {
  name: setting('name', text(MAX_NAME_LENGTH), { label: 'name' }),
  slug: setting('slug', text(MAX_NAME_LENGTH, slug), {
    label: 'slug',
    note: 'a-z, 0-9, hyphen and underscore; may be empty.',
  }),
  /** exactly as sent; tags.ts splits them */
  tags: setting('tags', text(500), { label: 'tags', note: 'Separated by single spaces.' }),
  desc: setting('desc', text(MAX_DESC_LENGTH), { label: 'description', column: 'description' }),
} satisfies FieldGroup

/** Settings of the schedule. Responses contain only those of the check's kind; the others remain stored. */
export const SCHEDULE_FIELDS = {
  kind: { ...choice('simple', 'cron', 'oncalendar'), api: null, column: 'kind', label: 'schedule' },
  /** cron or OnCalendar text as sent, untrimmed; empty for a check that never had one */
  schedule: setting('schedule', text(100, schedule), { label: 'schedule' }),
  timeoutSeconds: setting('timeout', seconds(86_400), { label: 'period', column: 'timeout_seconds' }),
  tz: setting('tz', { ...text(null, zone), initial: 'UTC' }, { label: 'time zone' }),
  graceSeconds: setting('grace', seconds(3600), { label: 'grace time', column: 'grace_seconds' }),
} satisfies FieldGroup

export const ACCEPTANCE_FIELDS = {
  manualResume: setting('manual_resume', flag, { label: 'how a pause ends' }),
  methods: setting('methods', choice('', 'POST'), { label: 'methods that count' }),
} satisfies FieldGroup

export const keywords = text(200)

/** See docs/spec/monitoring.md#keyword-filters. */
export const KEYWORD_FIELDS = {
  startKw: setting('start_kw', keywords, { label: 'keywords' }),
  successKw: setting('success_kw', keywords, { label: 'keywords' }),
  failureKw: setting('failure_kw', keywords, { label: 'keywords' }),
  filterSubject: setting('filter_subject', flag, { label: 'keywords' }),
  filterBody: setting('filter_body', flag, { label: 'keywords' }),
  filterHttpBody: setting('filter_http_body', flag, { label: 'keywords' }),
  filterDefaultFail: setting('filter_default_fail', flag, { label: 'keywords' }),
} satisfies FieldGroup

/**
 * Every setting of a check, by its name in the code. Types, request parsing, columns, responses, project documents,
 * copies, audit labels, the API schema and form values derive from this table.
 */
export const CHECK_FIELDS = { ...IDENTITY_FIELDS, ...SCHEDULE_FIELDS, ...ACCEPTANCE_FIELDS, ...KEYWORD_FIELDS }

export type SettingsOf<Fields> = { -readonly [Name in keyof Fields]: ValueOf<Fields[Name]> }
type ValueOf<Field> = Field extends { read(value: unknown, rules: SpecRules): Reading<infer Value> } ? Value : never

export type CheckSettings = SettingsOf<typeof CHECK_FIELDS>

export type ApiSettings<Fields> = { -readonly [Name in keyof Fields as ApiName<Fields[Name]>]: ValueOf<Fields[Name]> }
type ApiName<Field> = Field extends { api: infer Api extends string } ? Api : never

export function toApi<Fields extends FieldGroup>(fields: Fields, check: SettingsOf<Fields>): ApiSettings<Fields> {
  const members: Record<string, unknown> = {}
  for (const name in fields) {
    const api = fields[name]?.api
    if (api != null) members[api] = check[name]
  }
  return members as ApiSettings<Fields> // the compiler cannot follow the names through the loop
}

export function mapFields<Fields extends FieldGroup, Value>(
  fields: Fields,
  toValue: (field: CheckField) => Value,
): Record<keyof Fields, Value> {
  const members = entriesOf(fields).map(([name, field]) => [name, toValue(field)])
  return Object.fromEntries(members) as Record<keyof Fields, Value> // fromEntries() does not know the names
}

export function entriesOf<Fields extends object>(fields: Fields): [keyof Fields, Fields[keyof Fields]][] {
  return Object.entries(fields) as [keyof Fields, Fields[keyof Fields]][] // entries() does not know the names
}
