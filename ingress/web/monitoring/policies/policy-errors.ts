import { ValidationError } from '#shared/errors.ts'
import type { Plan } from '#shared/monitoring/alerting/policy.ts'
import { readPolicy, type StepNames } from '#shared/monitoring/alerting/read-policy.ts'
import type { JsonObject, JsonValue } from '#shared/monitoring/checks/json-body.ts'

interface Reading {
  /** by field name; '' for errors without a field */
  errors: ReadonlyMap<string, string>
  /** null if the policy has errors */
  plan: Plan | null
}

/**
 * Parses a policy and collects all errors. The API stops at the first error, so each invalid value is replaced by a
 * valid one and the rest parsed again.
 */
export function readAll(body: JsonObject, names: StepNames): Reading {
  const errors = new Map<string, string>()
  const tried = structuredClone(body)
  const steps = body.steps
  for (const [index, step] of (Array.isArray(steps) ? steps : []).entries()) {
    if (isObject(step) && step.channels === '') errors.set(`steps[${index}].channels`, 'Choose an integration.')
  }
  for (let round = 0; round < MAX_ERRORS; round++) {
    try {
      const { plan } = readPolicy(tried, null, names)
      return { errors, plan: errors.size === 0 ? plan : null }
    } catch (error) {
      if (!(error instanceof ValidationError)) throw error
      const [, path, text = ''] = /^json validation error: (\S+) (.*)$/.exec(error.message) ?? []
      const field = path === undefined ? undefined : FIELDS.find(({ name }) => name.test(path))
      if (path === undefined || !field || errors.has(path)) {
        errors.set('', path === undefined ? error.message : `${path} ${text}`)
        return { errors, plan: null }
      }
      errors.set(path, /is required|must be a string/.test(text) ? `${field.missing ?? field.rule}` : field.rule)
      replace(tried, path, field.fine)
    }
  }
  return { errors, plan: null }
}

const MAX_ERRORS = 100

interface Field {
  name: RegExp
  /** shown if the API refuses the value */
  rule: string
  missing?: string
  /** a valid value */
  fine: JsonValue
}

/** Limits of docs/spec/alerting.md#policies as sentences. */
const FIELDS: readonly Field[] = [
  { name: /^name$/, rule: 'Give it a name of at most 100 characters.', fine: 'name' },
  { name: /^match$/, rule: 'At most 500 characters.', fine: '' },
  { name: /^position$/, rule: 'A whole number from 0 to 1,000.', fine: 0 },
  { name: /^when\.failures$/, rule: 'A whole number from 1 to 20.', fine: null },
  { name: /^when\.of$/, rule: 'A whole number from the number of failures to 20, or nothing.', fine: null },
  { name: /^when\.down_for$/, rule: 'A number; at most 7 days.', fine: null },
  { name: /^when\.successes$/, rule: 'A whole number from 1 to 20.', fine: null },
  { name: /\.wait$/, rule: 'A number; at most 7 days.', fine: 0 },
  { name: /\.severity$/, rule: 'Choose one of these.', fine: null },
  { name: /\.repeat\.every$/, rule: 'A number; from 1 minute to 7 days.', missing: 'How often?', fine: 3600 },
  { name: /\.repeat\.times$/, rule: 'A whole number from 1 to 1,000, or nothing.', fine: null },
  {
    name: /\.hours\[\d+\]\.every$/,
    rule: 'This is neither a cron nor an OnCalendar expression, or it never occurs in the time zone.',
    missing: 'When do they begin?',
    fine: '0 8 * * *',
  },
  {
    name: /\.hours\[\d+\]\.for$/,
    rule: 'A number; from 1 minute to 30 days.',
    missing: 'How long do they last?',
    fine: 60,
  },
  { name: /\.hours\[\d+\]\.tz$/, rule: 'There is no such time zone.', fine: 'UTC' },
  { name: /\.outside$/, rule: 'Choose one of these.', fine: null },
  { name: /^group\.checks$/, rule: 'A whole number from 2 to 10,000.', fine: null },
  { name: /^group\.within$/, rule: 'A number; at most 10 minutes.', fine: null },
  {
    name: /^flapping\.changes$/,
    rule: 'A whole number from 3 to 50.',
    missing: 'How many changes? From 3 to 50.',
    fine: 6,
  },
  {
    name: /^flapping\.within$/,
    rule: 'A number; from 5 minutes to 1 day.',
    missing: 'Within what time? From 5 minutes to 1 day.',
    fine: 3600,
  },
  { name: /\.people$/, rule: 'Choose at most 10.', fine: [] },
  { name: /^fallback\.wait$/, rule: 'A number; from 1 minute to 1 day.', fine: 900 },
  { name: /^ack_timeout$/, rule: 'A number; from 5 minutes to 7 days, or nothing.', fine: null },
]

/** Replaces a value at a path of the API, for example `steps[1].repeat.every`. */
function replace(body: JsonObject, path: string, value: JsonValue): void {
  const names = path.split(/[.[\]]+/).filter(Boolean)
  const last = names.pop() ?? ''
  let at: JsonValue = body
  for (const name of names) {
    const inner: JsonValue | undefined = Array.isArray(at) ? at[Number(name)] : isObject(at) ? at[name] : undefined
    if (inner === undefined) return
    at = inner
  }
  if (isObject(at)) at[last] = value
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}
