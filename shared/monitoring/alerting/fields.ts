import { ValidationError } from '../../errors.ts'
import { type Micros, microsOfDate } from '../../time.ts'
import { type JsonObject, type JsonValue, NonIntegerNumber } from '../checks/json-body.ts'
import { isValidSchedule } from '../schedules/schedule.ts'
import { resolveTimeZone } from '../schedules/time-zones.ts'
import type { RecurringTime } from './policy.ts'

/** The text follows the path: "must be a string" (docs/spec/alerting.md#alerting-api). */
export function invalid(path: string, text: string): ValidationError {
  return new ValidationError(`json validation error: ${path} ${text}`)
}

export function isPresent(value: JsonValue | undefined): value is Exclude<JsonValue, null> {
  return value !== undefined && value !== null
}

/** Limits are in characters. */
export function readText(
  value: JsonValue | undefined,
  path: string,
  { min = 0, max }: { min?: number; max: number },
): string {
  if (!isPresent(value)) throw invalid(path, 'is required')
  // PostgreSQL stores neither lone surrogates nor NUL.
  if (typeof value !== 'string' || !value.isWellFormed() || value.includes('\0')) {
    throw invalid(path, 'must be a string')
  }
  if (value.length > max && [...value].length > max) throw invalid(path, `must have at most ${max} characters`)
  if (value.length < min) throw invalid(path, 'must not be empty')
  return value
}

interface Range {
  min: number
  max: number
  unit?: 'seconds'
}

/** "must be between 0 and 86400 seconds" */
export function mustBeWithin({ min, max, unit }: Range): string {
  return `must be between ${min} and ${max}${unit === undefined ? '' : ` ${unit}`}`
}

/** "must be one of wait, skip" */
export function mustBeOneOf(choices: readonly string[]): string {
  return choices.length === 1 ? `must be ${choices[0]}` : `must be one of ${choices.join(', ')}`
}

export const MUST_BE_INSTANT = 'must be a time such as 2026-05-01T09:30:00+00:00'
const INSTANT = /^[12]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)$/

export function readInstant(value: JsonValue | undefined, path: string): Micros {
  const text = readText(value, path, { max: 40 })
  const date = new Date(INSTANT.test(text) ? text : Number.NaN)
  if (Number.isNaN(date.getTime())) throw invalid(path, MUST_BE_INSTANT)
  return microsOfDate(date)
}

export function readNumber(value: JsonValue | undefined, path: string, range: Range): number {
  if (!isPresent(value)) throw invalid(path, 'is required')
  if (typeof value !== 'number') throw invalid(path, 'must be a whole number')
  if (value < range.min || value > range.max) throw invalid(path, mustBeWithin(range))
  return value
}

export function readBoolean(value: JsonValue, path: string): boolean {
  if (typeof value !== 'boolean') throw invalid(path, 'must be true or false')
  return value
}

export function readChoice<const T extends string>(
  value: JsonValue | undefined,
  path: string,
  choices: readonly T[],
): T {
  const text = readText(value, path, { max: Number.POSITIVE_INFINITY })
  const found = choices.find((choice) => choice === text)
  if (found === undefined) throw invalid(path, mustBeOneOf(choices))
  return found
}

export function readObject(value: JsonValue | undefined, path: string): JsonObject {
  if (!isPresent(value)) throw invalid(path, 'is required')
  if (typeof value !== 'object' || Array.isArray(value) || value instanceof NonIntegerNumber) {
    throw invalid(path, 'must be an object')
  }
  return value
}

export function readList(
  value: JsonValue | undefined,
  path: string,
  { min = 0, max }: { min?: number; max: number },
): JsonValue[] {
  if (!isPresent(value)) throw invalid(path, 'is required')
  if (!Array.isArray(value)) throw invalid(path, 'must be an array')
  if (value.length > max) throw invalid(path, `must have at most ${max} elements`)
  if (value.length < min) throw invalid(path, 'must not be empty')
  return value
}

/** Called last: a misspelt member must not pass. */
export function refuseUnknown(object: JsonObject, path: string, known: readonly string[]): void {
  const unknown = Object.keys(object).find((name) => !known.includes(name))
  if (unknown !== undefined) throw invalid(path === '' ? unknown : `${path}.${unknown}`, 'is not a known member')
}

const RECURRING: Range = { min: 60, max: 2_592_000, unit: 'seconds' }

export function readRecurring(value: JsonValue | undefined, path: string): RecurringTime {
  const object = readObject(value, path)
  const every = readText(object.every, `${path}.every`, { max: 100 })
  if (!isValidSchedule(every)) throw invalid(`${path}.every`, 'is not a valid cron or OnCalendar expression')
  const seconds = readNumber(object.for, `${path}.for`, RECURRING)
  const tz = isPresent(object.tz) ? readZone(object.tz, `${path}.tz`) : 'UTC'
  if (!isValidSchedule(every, tz)) throw invalid(`${path}.every`, 'is not a valid cron or OnCalendar expression')
  refuseUnknown(object, path, ['every', 'for', 'tz'])
  return { every, for: seconds, tz }
}

export function readZone(value: JsonValue | undefined, path: string): string {
  const zone = resolveTimeZone(readText(value, path, { max: Number.POSITIVE_INFINITY }))
  if (zone === null) throw invalid(path, 'is not a valid timezone')
  return zone
}
