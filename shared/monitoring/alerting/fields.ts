import { ValidationError } from '../../errors.ts'
import { type JsonObject, type JsonValue, NonIntegerNumber } from '../checks/json-body.ts'
import { isValidSchedule } from '../schedules/schedule.ts'
import { resolveTimeZone } from '../schedules/time-zones.ts'
import type { RecurringTime } from './policy.ts'

/** The first thing that is wrong with a request, in the words of the alerting API (docs/spec/alerting.md#alerting-api). */
export function invalid(path: string, text: string): ValidationError {
  return new ValidationError(`json validation error: ${path} ${text}`)
}

/** Whether a value is there and not null, which resets a member to its default. */
export function isPresent(value: JsonValue | undefined): value is Exclude<JsonValue, null> {
  return value !== undefined && value !== null
}

/** @throws ValidationError for what is no text, and for one shorter or longer than allowed; length in characters */
export function readText(
  value: JsonValue | undefined,
  path: string,
  { min = 0, max }: { min?: number; max: number },
): string {
  if (!isPresent(value)) throw invalid(path, 'is missing')
  // PostgreSQL stores neither lone surrogates nor NUL.
  if (typeof value !== 'string' || !value.isWellFormed() || value.includes('\0')) throw invalid(path, 'is not a string')
  if (value.length > max && [...value].length > max) throw invalid(path, 'is too long')
  if (value.length < min) throw invalid(path, 'has unexpected value')
  return value
}

/** @throws ValidationError */
export function readNumber(
  value: JsonValue | undefined,
  path: string,
  { min, max }: { min: number; max: number },
): number {
  if (!isPresent(value)) throw invalid(path, 'is missing')
  if (typeof value !== 'number') throw invalid(path, 'is not a number')
  if (value < min) throw invalid(path, 'is too small')
  if (value > max) throw invalid(path, 'is too large')
  return value
}

/** @throws ValidationError */
export function readChoice<const T extends string>(
  value: JsonValue | undefined,
  path: string,
  choices: readonly T[],
): T {
  const text = readText(value, path, { max: Number.POSITIVE_INFINITY })
  const found = choices.find((choice) => choice === text)
  if (found === undefined) throw invalid(path, 'has unexpected value')
  return found
}

/** @throws ValidationError */
export function readObject(value: JsonValue | undefined, path: string): JsonObject {
  if (!isPresent(value)) throw invalid(path, 'is missing')
  if (typeof value !== 'object' || Array.isArray(value) || value instanceof NonIntegerNumber) {
    throw invalid(path, 'is not an object')
  }
  return value
}

/** @throws ValidationError */
export function readList(
  value: JsonValue | undefined,
  path: string,
  { min = 0, max }: { min?: number; max: number },
): JsonValue[] {
  if (!isPresent(value)) throw invalid(path, 'is missing')
  if (!Array.isArray(value)) throw invalid(path, 'is not an array')
  if (value.length > max) throw invalid(path, 'is too long')
  if (value.length < min) throw invalid(path, 'has unexpected value')
  return value
}

/** Looked at last: a misspelt member must not pass. @throws ValidationError naming the first that is not known */
export function refuseUnknown(object: JsonObject, path: string, known: readonly string[]): void {
  const unknown = Object.keys(object).find((name) => !known.includes(name))
  if (unknown !== undefined) throw invalid(path === '' ? unknown : `${path}.${unknown}`, 'is not known')
}

const RECURRING = { min: 60, max: 2_592_000 }

/** From each occurrence for so many seconds. @throws ValidationError */
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

/** @returns the name to store. @throws ValidationError */
function readZone(value: JsonValue | undefined, path: string): string {
  const zone = resolveTimeZone(readText(value, path, { max: Number.POSITIVE_INFINITY }))
  if (zone === null) throw invalid(path, 'is not a valid timezone')
  return zone
}
