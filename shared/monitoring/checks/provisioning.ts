import { ValidationError } from '../../errors.ts'
import { isUuid } from '../../uuid.ts'
import { invalid, isPresent, readText, refuseUnknown } from '../alerting/fields.ts'
import { isValidSchedule } from '../schedules/schedule.ts'
import { resolveTimeZone } from '../schedules/time-zones.ts'
import type { JsonObject } from './json-body.ts'
import { type CheckSpec, parseCheckSpec } from './spec.ts'

const SPEC_FIELDS = ['timeout', 'grace', 'schedule', 'tz', 'tags', 'channels'] as const

/** null is the default of new checks (docs/spec/alerting.md#sources). */
export interface Provisioning {
  timeout: number | null
  grace: number | null
  schedule: string | null
  tz: string | null
  tags: string | null
  channels: string | null
  policy: string | null
}

export const NO_PROVISIONING: Readonly<Provisioning> = Object.freeze({
  timeout: null,
  grace: null,
  schedule: null,
  tz: null,
  tags: null,
  channels: null,
  policy: null,
})

const RULES = { isValidSchedule, resolveTimeZone }

export function readProvisioning(body: JsonObject, current: Provisioning): Provisioning {
  const given = Object.fromEntries(SPEC_FIELDS.flatMap((name) => (isPresent(body[name]) ? [[name, body[name]]] : [])))
  const parsed = parseCheckSpec(given, RULES)
  if (!parsed.ok) throw new ValidationError(parsed.error)
  if (isPresent(body.policy) && !isUuid(readText(body.policy, 'policy', { max: 100 })))
    throw invalid('policy', 'must be a UUID')
  refuseUnknown(body, '', [...SPEC_FIELDS, 'policy', 'api_key'])
  const named = Object.fromEntries(
    [...SPEC_FIELDS, 'policy'].flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])),
  )
  const wanted: Provisioning = { ...current, ...named }
  if (wanted.schedule !== null && !isValidSchedule(wanted.schedule, zoneOf(wanted.tz)))
    throw invalid('schedule', 'is not a valid cron or OnCalendar expression')
  return wanted
}

function zoneOf(tz: string | null): string {
  return (tz === null ? null : resolveTimeZone(tz)) ?? 'UTC'
}

/** The query of the ping overrides the settings of the project. */
export interface CreationSettings {
  spec: CheckSpec
  policy: string | null
  leftOut: string[]
}

/** Ignores invalid values, because the ping must count. */
export function creationSettings(defaults: Provisioning, query: URLSearchParams): CreationSettings {
  const spec: CheckSpec = {}
  const leftOut: string[] = []
  for (const name of SPEC_FIELDS) {
    const requested = query.getAll(name).at(-1)
    const wanted = [requested === undefined ? null : inputValue(name, requested), defaults[name]]
    for (const value of wanted) {
      if (value === null) continue
      const parsed = parseCheckSpec({ [name]: value }, RULES)
      if (parsed.ok) {
        Object.assign(spec, parsed.spec)
        break
      }
      leftOut.push(name)
    }
  }
  // A timeout in the query overrides a schedule of the project.
  if (query.has('timeout') && !query.has('schedule') && spec.timeoutSeconds !== undefined) delete spec.schedule
  if (spec.schedule !== undefined && !isValidSchedule(spec.schedule, spec.tz)) {
    delete spec.schedule
    leftOut.push('schedule')
  }
  const requested = query.getAll('policy').at(-1)
  if (requested !== undefined && !isUuid(requested)) leftOut.push('policy')
  const policy = requested !== undefined && isUuid(requested) ? requested : defaults.policy
  return { spec, policy, leftOut }
}

function inputValue(name: string, text: string): string | number {
  return (name === 'timeout' || name === 'grace') && /^[0-9]{1,12}$/.test(text) ? Number(text) : text
}
