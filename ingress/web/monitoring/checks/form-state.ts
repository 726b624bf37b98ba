import { ValidationError } from '#shared/errors.ts'
import { NO_RULES, type RuleFields } from '#shared/monitoring/alerting/read-policy.ts'
import {
  CHECK_FIELDS,
  type CheckField,
  type CheckSettings,
  entriesOf,
  type FieldGroup,
  IDENTITY_FIELDS,
  KEYWORD_FIELDS,
} from '#shared/monitoring/checks/fields.ts'
import type { JsonObject } from '#shared/monitoring/checks/json-body.ts'
import { slugify } from '#shared/monitoring/checks/slug.ts'
import { parseSpec } from '#shared/monitoring/operations/check-changes.ts'
import { rulesOf } from '#shared/monitoring/operations/rules.ts'
import { field } from '../../shell/context.ts'
import { secondsOf, splitDuration } from '../../shell/format.ts'
import { type Added, problemOfAdded, readAddedIntegration } from './added-integration.tsx'

/** Values by input name, which is the API's name. */
export interface CheckFormState {
  values: Readonly<Record<string, string>>
  flags: ReadonlySet<string>
  integrations: ReadonlySet<string>
  /** an integration to create with a new check */
  added?: Added | null
  /** by input name; an error of a member without an input has the member's name */
  errors?: ReadonlyMap<string, string>
}

const PLAIN_TEXTS = namesOf('text', { ...IDENTITY_FIELDS, ...KEYWORD_FIELDS })
const TEXTS = [...PLAIN_TEXTS, 'kind', 'schedule', 'tz']
const DURATIONS = [...namesOf('seconds', CHECK_FIELDS), 'early']
const FLAGS = namesOf('flag', CHECK_FIELDS)
/** Inputs that are rules of the check. */
const RULE_TEXTS = ['filter_json'] as const
/** Input with the value of an added integration. */
const ADDED = 'new_value'
type FormRules = Pick<RuleFields, 'filter_json' | 'filter_else' | 'early'>

function namesOf(type: CheckField['type'], fields: FieldGroup): string[] {
  return Object.values(fields).flatMap((field) => (field.api === null || field.type !== type ? [] : [field.api]))
}

export function stateOf(
  settings: CheckSettings,
  integrations: readonly string[],
  rules: FormRules = NO_RULES,
): CheckFormState {
  const values: Record<string, string> = {
    kind: settings.kind === 'simple' ? 'simple' : 'schedule',
    filter_json: rules.filter_json ?? '',
    ...durationInputs('early', rules.early),
  }
  const flags = new Set(settings.methods === 'POST' ? ['post_only'] : [])
  if (rules.filter_else === 'url') flags.add('filter_else')
  for (const [name, { api, type }] of entriesOf(CHECK_FIELDS)) {
    const value = settings[name]
    if (api === null || type === 'choice') continue
    if (typeof value === 'string') values[api] = value
    else if (typeof value === 'boolean') {
      if (value) flags.add(api)
    } else {
      Object.assign(values, durationInputs(api, value))
    }
  }
  return { values, flags, integrations: new Set(integrations) }
}

function durationInputs(name: string, seconds: number): Record<string, string> {
  const { count, unit } = splitDuration(seconds)
  return { [name]: String(count), [`${name}_unit`]: unit }
}

/**
 * Returns the submitted form with all errors. Parses each member separately, because the API stops at the first error.
 */
export function stateOfForm(form: URLSearchParams, error: ValidationError | null): CheckFormState {
  const names = [...TEXTS, ...RULE_TEXTS, ...DURATIONS, ...DURATIONS.map((name) => `${name}_unit`)]
  const errors = new Map(error === null ? [] : [errorOf(error)])
  const added = readAddedIntegration(form)
  const problem = added && problemOfAdded(added)
  if (problem) errors.set(ADDED, problem)
  for (const [name, value] of Object.entries(bodyOf(form, false))) {
    try {
      const member: JsonObject = Object.assign(Object.create(null), { [name]: value })
      parseSpec(member)
      rulesOf(member)
    } catch (wrong) {
      if (!(wrong instanceof ValidationError)) throw wrong
      const [field, text] = errorOf(wrong)
      errors.set(field, text)
    }
  }
  return {
    values: Object.fromEntries(names.map((name) => [name, form.get(name) ?? ''])),
    flags: new Set([...FLAGS, 'post_only', 'filter_else'].filter((name) => form.has(name))),
    integrations: new Set(form.getAll('integration')),
    added,
    errors,
  }
}

const LABELS = new Map<string | null, string>(Object.values(CHECK_FIELDS).map(({ api, label }) => [api, label]))

/** Subjects of error texts that differ from the label. */
const SUBJECTS: Readonly<Record<string, string>> = {
  tags: 'list of tags',
  start_kw: 'list of words',
  success_kw: 'list of words',
  failure_kw: 'list of words',
  filter_json: 'JSON member',
  early: 'time of an early ping',
}

/** Translates an error of the API to the labels of the form. */
function errorOf(error: ValidationError): [name: string, text: string] {
  const text = error.message.replace(/^json validation error: (?:rules\.)?/, '')
  const name = /^\w+/.exec(text)?.[0] ?? ''
  if (!isField(name)) return [name, text]
  const problem = text
    .slice(name.length)
    .replace('does not match pattern', 'has characters that it may not')
    .replace('is not a valid timezone', 'is not known: enter a name such as Europe/Berlin')
  return [name, `The ${SUBJECTS[name] ?? LABELS.get(name)}${problem}.`]
}

/**
 * Converts the submitted form to a request body of the management API, which validates it.
 * @param rules the stored rules; equal members are omitted, so that a check without rules stays without
 */
export function bodyOf(form: URLSearchParams, isNew: boolean, rules: FormRules = NO_RULES): JsonObject {
  const body: JsonObject = Object.create(null)
  for (const name of PLAIN_TEXTS) body[name] = field(form, name)
  if (isNew && body.slug === '') body.slug = slugify(field(form, 'name')).slice(0, 100)
  body.tags = field(form, 'tags').split(/\s+/).join(' ')
  body.grace = secondsOf(field(form, 'grace'), form.get('grace_unit'))
  body.tz = field(form, 'tz') || 'UTC'
  if (form.get('kind') === 'schedule') body.schedule = field(form, 'schedule')
  else body.timeout = secondsOf(field(form, 'timeout'), form.get('timeout_unit'))
  for (const name of FLAGS) body[name] = form.has(name)
  body.methods = form.has('post_only') ? 'POST' : ''
  body.channels = form.getAll('integration').join(',')
  const changed = Object.entries(rulesOfForm(form, rules)).filter(([name, value]) => value !== Reflect.get(rules, name))
  if (changed.length > 0) body.rules = Object.assign(Object.create(null), Object.fromEntries(changed))
  return body
}

function rulesOfForm(form: URLSearchParams, rules: FormRules) {
  return {
    filter_json: field(form, 'filter_json') || null,
    filter_else: form.has('filter_else') ? 'url' : null,
    early: form.has('early') ? secondsOf(field(form, 'early'), form.get('early_unit')) : rules.early,
  }
}

/** Returns whether an input has this name and shows its own error. */
export function isField(name: string): boolean {
  return name === ADDED || TEXTS.includes(name) || DURATIONS.includes(name) || RULE_TEXTS.some((rule) => rule === name)
}
