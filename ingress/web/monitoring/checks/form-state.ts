import { ValidationError } from '#shared/errors.ts'
import type { JsonObject } from '#shared/monitoring/checks/json-body.ts'
import { type CheckSettings, DEFAULT_SETTINGS } from '#shared/monitoring/checks/settings.ts'
import { slugify } from '#shared/monitoring/checks/slug.ts'
import { parseSpec } from '#shared/monitoring/operations/check-changes.ts'
import { field } from '../../shell/context.ts'
import { secondsOf, splitDuration } from '../../shell/format.ts'

/** What the form shows: texts as they were typed. */
export interface CheckFormState {
  values: Readonly<Record<string, string>>
  flags: ReadonlySet<string>
  channels: ReadonlySet<string>
  /** what is wrong, by the field that it is about; what is about none stands under its own name */
  errors?: ReadonlyMap<string, string>
}

const FLAGS = ['manual_resume', 'filter_subject', 'filter_body', 'filter_http_body', 'filter_default_fail', 'post_only']
const TEXTS = ['name', 'slug', 'tags', 'desc', 'kind', 'schedule', 'tz', 'start_kw', 'success_kw', 'failure_kw']
const DURATIONS = ['timeout', 'grace']

/** The form of a check as it is; of a new one with the defaults of the API. */
export function stateOf(settings: CheckSettings | null, channels: readonly string[]): CheckFormState {
  const it = settings ?? DEFAULT_SETTINGS
  const [timeout, grace] = [splitDuration(it.timeoutSeconds), splitDuration(it.graceSeconds)]
  return {
    values: {
      name: it.name,
      slug: it.slug,
      tags: it.tags,
      desc: it.desc,
      kind: it.kind === 'simple' ? 'simple' : 'schedule',
      schedule: it.schedule,
      tz: it.tz,
      timeout: String(timeout.count),
      timeout_unit: timeout.unit,
      grace: String(grace.count),
      grace_unit: grace.unit,
      start_kw: it.startKw,
      success_kw: it.successKw,
      failure_kw: it.failureKw,
    },
    flags: new Set([
      ...(it.manualResume ? ['manual_resume'] : []),
      ...(it.filterSubject ? ['filter_subject'] : []),
      ...(it.filterBody ? ['filter_body'] : []),
      ...(it.filterHttpBody ? ['filter_http_body'] : []),
      ...(it.filterDefaultFail ? ['filter_default_fail'] : []),
      ...(it.methods === 'POST' ? ['post_only'] : []),
    ]),
    channels: new Set(channels),
  }
}

/**
 * The form as it was sent, to be shown again beside everything that is wrong with it: each member is read once more by
 * itself, since the API stops at the first.
 */
export function stateOfForm(form: URLSearchParams, error: ValidationError): CheckFormState {
  const names = [...TEXTS, ...DURATIONS, ...DURATIONS.map((name) => `${name}_unit`)]
  const errors = new Map([said(error)])
  for (const [name, value] of Object.entries(bodyOf(form, false))) {
    try {
      parseSpec(Object.assign(Object.create(null), { [name]: value }))
    } catch (wrong) {
      if (!(wrong instanceof ValidationError)) throw wrong
      const [field, text] = said(wrong)
      errors.set(field, text)
    }
  }
  return {
    values: Object.fromEntries(names.map((name) => [name, form.get(name) ?? ''])),
    flags: new Set(FLAGS.filter((name) => form.has(name))),
    channels: new Set(form.getAll('channel')),
    errors,
  }
}

const WORDS: Readonly<Record<string, string>> = {
  name: 'The name',
  slug: 'The slug',
  tags: 'The list of tags',
  desc: 'The description',
  schedule: 'The schedule',
  tz: 'The time zone',
  timeout: 'The period',
  grace: 'The grace time',
  start_kw: 'The list of words',
  success_kw: 'The list of words',
  failure_kw: 'The list of words',
}

/** An error of the API as the form says it, with the field that it is about. */
function said(error: ValidationError): [field: string, text: string] {
  const text = error.message.replace(/^json validation error: /, '')
  const field = /^\w+/.exec(text)?.[0] ?? ''
  const words = WORDS[field]
  if (words === undefined) return [field, text]
  return [
    field,
    `${words}${text.slice(field.length).replace('does not match pattern', 'has characters that it may not')}.`,
  ]
}

/** The sent form as a request of the management API, whose rules then decide. */
export function bodyOf(form: URLSearchParams, isNew: boolean): JsonObject {
  const body: JsonObject = Object.create(null)
  for (const name of ['name', 'slug', 'desc', 'start_kw', 'success_kw', 'failure_kw']) body[name] = field(form, name)
  if (isNew && body.slug === '') body.slug = slugify(field(form, 'name')).slice(0, 100)
  body.tags = field(form, 'tags').split(/\s+/).join(' ')
  body.grace = secondsOf(field(form, 'grace'), form.get('grace_unit'))
  body.tz = field(form, 'tz') || 'UTC'
  if (form.get('kind') === 'schedule') body.schedule = field(form, 'schedule')
  else body.timeout = secondsOf(field(form, 'timeout'), form.get('timeout_unit'))
  for (const name of FLAGS) if (name !== 'post_only') body[name] = form.has(name)
  body.methods = form.has('post_only') ? 'POST' : ''
  body.channels = form.getAll('channel').join(',')
  return body
}

/** Whether a field of this name has its error beside it. */
export function isField(name: string): boolean {
  return TEXTS.includes(name) || DURATIONS.includes(name)
}
