import { ValidationError } from '../../errors.ts'
import { normalEmail } from '../../tenancy/accounts/roles.ts'
import {
  invalid,
  isPresent,
  readBoolean,
  readChoice,
  readList,
  readNumber,
  readObject,
  readText,
  readZone,
  refuseUnknown,
} from '../alerting/fields.ts'
import { MAX_INTEGRATIONS_LENGTH, type NamedIntegration, resolveIntegrations } from '../checks/integrations-field.ts'
import type { JsonObject, JsonValue } from '../checks/json-body.ts'
import { DAYS, type Hours, type Layer, type Rotation, type ScheduleFields, UNITS } from './schedule.ts'
import { calendarOf, dateOf, wallSeconds, wallText } from './wall-time.ts'

const MEMBERS = ['name', 'tz', 'shared', 'show_names', 'holidays', 'layers', 'coverage', 'fallback', 'notices']
const HOUR_STEPS = [1, 2, 3, 4, 6, 8, 12]
const MAX_HOURS = 21
const MAX_HOLIDAYS = 100

/**
 * Null resets a member to its default (docs/on-call.md#rules). @throws ValidationError for the first invalid
 * member, in the order of the specification's table
 */
export function readSchedule(
  body: JsonObject,
  current: ScheduleFields | null,
  integrations: readonly NamedIntegration[],
): ScheduleFields {
  const changed = <T>(value: JsonValue | undefined, was: T | undefined, normal: T, read: (value: JsonValue) => T): T =>
    value === undefined ? (was ?? normal) : value === null ? normal : read(value)
  const fields: ScheduleFields = {
    name: body.name === undefined && current ? current.name : readText(body.name, 'name', { min: 1, max: 100 }),
    tz: changed(body.tz, current?.tz, 'UTC', (value) => readZone(value, 'tz')),
    shared: changed(body.shared, current?.shared, false, (value) => readBoolean(value, 'shared')),
    show_names: changed(body.show_names, current?.show_names, false, (value) => readBoolean(value, 'show_names')),
    holidays: changed<readonly string[]>(body.holidays, current?.holidays, [], readHolidays),
    layers:
      body.layers === undefined && current
        ? current.layers
        : readList(body.layers, 'layers', { max: 10 }).map((it, index) => readLayer(it, `layers[${index}]`)),
    coverage: changed<ScheduleFields['coverage']>(body.coverage, current?.coverage, 'always', readCoverage),
    fallback: changed<string | null>(body.fallback, current?.fallback, null, (it) => readPerson(it, 'fallback')),
    notices: changed(body.notices, current?.notices, { channels: null, gaps: true }, (it) =>
      readNotices(it, integrations),
    ),
  }
  refuseUnknown(body, '', [...MEMBERS, 'api_key'])
  if (body.layers !== undefined || body.holidays !== undefined) refuseUncountedStarts(fields)
  return fields
}

/** Returns the address in normal form. */
export function readPerson(value: JsonValue | undefined, path: string): string {
  const email = normalEmail(readText(value, path, { max: 254 }))
  if (email === null) throw invalid(path, 'must be an e-mail address')
  return email
}

function readHolidays(value: JsonValue): string[] {
  return readList(value, 'holidays', { max: MAX_HOLIDAYS }).map((it, index) => {
    const path = `holidays[${index}]`
    const date = readText(it, path, { max: 20 })
    if (!isWallTime(`${date}T00:00`)) throw invalid(path, 'must be a date such as 2026-12-25')
    return date
  })
}

function readLayer(value: JsonValue, path: string): Layer {
  const layer = readObject(value, path)
  const start = readWallTime(layer.start, `${path}.start`)
  const read: Layer = {
    name: isPresent(layer.name) ? readText(layer.name, `${path}.name`, { max: 100 }) : '',
    people: readList(layer.people, `${path}.people`, { max: 50 }).map((it, index) =>
      readPerson(it, `${path}.people[${index}]`),
    ),
    start,
    end: isPresent(layer.end) ? readWallTime(layer.end, `${path}.end`) : null,
    rotation: readRotation(layer.rotation, `${path}.rotation`),
    hours: isPresent(layer.hours) ? readHours(layer.hours, `${path}.hours`) : [],
  }
  if (read.end !== null && read.end <= start) throw invalid(`${path}.end`, 'must be after start')
  refuseUnknown(layer, path, Object.keys(read))
  return read
}

function readRotation(value: JsonValue | undefined, path: string): Rotation {
  const rotation = readObject(value, path)
  const unit = readChoice(rotation.unit, `${path}.unit`, UNITS)
  const max = { hour: 12, day: 365, week: 52 }[unit]
  const every = isPresent(rotation.every) ? readNumber(rotation.every, `${path}.every`, { min: 1, max }) : 1
  if (unit === 'hour' && !HOUR_STEPS.includes(every))
    throw invalid(`${path}.every`, `must be one of ${HOUR_STEPS.join(', ')}`)
  if (isPresent(rotation.on) && unit !== 'day') throw invalid(`${path}.on`, 'is only possible with the unit day')
  const on = isPresent(rotation.on) ? readDays(rotation.on, `${path}.on`) : null
  refuseUnknown(rotation, path, ['unit', 'every', 'on'])
  return { unit, every, on }
}

function readHours(value: JsonValue, path: string): Hours[] {
  return readList(value, path, { max: MAX_HOURS }).map((it, index) => {
    const hours = readObject(it, `${path}[${index}]`)
    const read = {
      days: readDays(hours.days, `${path}[${index}].days`),
      from: readTimeOfDay(hours.from, `${path}[${index}].from`),
      to: readTimeOfDay(hours.to, `${path}[${index}].to`),
    }
    refuseUnknown(hours, `${path}[${index}]`, Object.keys(read))
    return read
  })
}

function readDays(value: JsonValue | undefined, path: string) {
  const days = readList(value, path, { min: 1, max: DAYS.length })
  return days.map((it, index) => readChoice(it, `${path}[${index}]`, DAYS))
}

function readTimeOfDay(value: JsonValue | undefined, path: string): string {
  const text = readText(value, path, { max: 20 })
  if (!/^(?:[01]\d|2[0-3]):[0-5]\d$/.test(text)) throw invalid(path, 'must be a time such as 09:00')
  return text
}

function readWallTime(value: JsonValue | undefined, path: string): string {
  const text = readText(value, path, { max: 40 })
  if (!isWallTime(text)) throw invalid(path, 'must be a local time such as 2026-01-05T09:00')
  return text
}

function isWallTime(text: string): boolean {
  if (!/^[12]\d{3}-\d\d-\d\dT\d\d:\d\d$/.test(text)) return false
  const wall = wallSeconds(text)
  return !Number.isNaN(wall) && wallText(wall) === text
}

function readCoverage(value: JsonValue): ScheduleFields['coverage'] {
  if (Array.isArray(value)) return readHours(value, 'coverage')
  if (typeof value !== 'string') throw invalid('coverage', 'must be always, none or an array of hours')
  return readChoice(value, 'coverage', ['always', 'none'])
}

function readNotices(value: JsonValue, integrations: readonly NamedIntegration[]): ScheduleFields['notices'] {
  const notices = readObject(value, 'notices')
  const path = 'notices.channels'
  const text = isPresent(notices.channels) ? readText(notices.channels, path, { max: MAX_INTEGRATIONS_LENGTH }) : ''
  const choice = resolveIntegrations(text, integrations)
  if (!choice.ok) throw new ValidationError(choice.error)
  const gaps = isPresent(notices.gaps) ? readBoolean(notices.gaps, 'notices.gaps') : true
  refuseUnknown(notices, 'notices', ['channels', 'gaps'])
  return { channels: choice.ids.length > 0 ? choice.ids : null, gaps }
}

/** The first shift begins on a day that counts. */
function refuseUncountedStarts(fields: ScheduleFields): void {
  const { dayOf } = calendarOf(fields)
  for (const [index, { start, rotation }] of fields.layers.entries()) {
    const day = dayOf(dateOf(wallSeconds(start)))
    if (rotation.on && !rotation.on.includes(day))
      throw invalid(`layers[${index}].rotation.on`, `must contain ${day}, the day of start`)
  }
}

/** The members of the API, in the order of the specification's table. */
export function scheduleView({ notices, ...fields }: ScheduleFields) {
  return {
    name: fields.name,
    tz: fields.tz,
    shared: fields.shared,
    show_names: fields.show_names,
    holidays: fields.holidays,
    layers: fields.layers.map(({ rotation: { unit, every, on }, ...layer }) => ({
      ...layer,
      rotation: { unit, every, ...(on && { on }) },
    })),
    coverage: fields.coverage,
    fallback: fields.fallback,
    notices: { channels: notices.channels?.join(',') ?? null, gaps: notices.gaps },
  }
}
