import { type Micros, microsOfDate, microsOfSeconds, toSeconds } from '../../time.ts'
import { invalid, isGiven, readChoice, readList, readNumber, readText, refuseUnknown } from '../alerting/fields.ts'
import type { JsonObject, JsonValue } from '../checks/json-body.ts'
import { isValidSchedule } from '../schedules/schedule.ts'
import { resolveTimeZone } from '../schedules/time-zones.ts'
import type { Window } from './window.ts'

export type WindowFields = Omit<Window, 'uuid'>

const MEMBERS = ['name', 'match', 'checks', 'starts', 'ends', 'every', 'for', 'tz', 'uptime', 'shown', 'api_key']
const LENGTH = { min: 60, max: 2_592_000 }
const MOST_CHECKS = 500
const INSTANT = /^[12]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)$/

/**
 * Reads a request to make or change a maintenance window (alerting 3): what it names changes, null resets to the default.
 * @throws ValidationError with the first thing that is wrong
 */
export function readWindow(body: JsonObject, current: WindowFields | null, now: Micros): WindowFields {
  const kept = <T>(value: JsonValue | undefined, was: T | undefined, normal: T, read: (value: JsonValue) => T): T =>
    value === undefined ? (was ?? normal) : value === null ? normal : read(value)
  const fields: WindowFields = {
    name: kept(body.name, current?.name, '', (value) => readText(value, 'name', { max: 100 })),
    match: kept(body.match, current?.match, '', (value) => readText(value, 'match', { max: 500 })),
    checks: kept<readonly string[]>(body.checks, current?.checks, [], (value) =>
      readList(value, 'checks', { max: MOST_CHECKS }).map((it, index) =>
        readText(it, `checks[${index}]`, { max: 100 }),
      ),
    ),
    time: readTime(body, current?.time ?? null, now),
    uptime: kept<Window['uptime']>(body.uptime, current?.uptime, 'count', (value) =>
      readChoice(value, 'uptime', ['count', 'exclude']),
    ),
    shown: kept(body.shown, current?.shown, false, (value) => {
      if (typeof value !== 'boolean') throw invalid('shown', 'is not a boolean')
      return value
    }),
  }
  refuseUnknown(body, '', MEMBERS)
  if (fields.match.trim() === '' && fields.checks.length === 0) throw invalid('match', 'is missing')
  return fields
}

function readTime(body: JsonObject, current: Window['time'] | null, now: Micros): Window['time'] {
  const isTimed = ['starts', 'ends', 'every', 'for', 'tz'].some((member) => body[member] !== undefined)
  if (!isTimed && current) return current
  if (!isGiven(body.every)) return readOnce(body, now)
  if (isGiven(body.starts) || isGiven(body.ends)) throw invalid('every', 'has unexpected value')
  const every = readText(body.every, 'every', { max: 100 })
  if (!isValidSchedule(every)) throw invalid('every', 'is not a valid cron or OnCalendar expression')
  const length = readNumber(body.for, 'for', LENGTH)
  const tz = isGiven(body.tz) ? resolveTimeZone(readText(body.tz, 'tz', { max: 100 })) : 'UTC'
  if (tz === null) throw invalid('tz', 'is not a valid timezone')
  // The same times again, as a form sends them: what was ended early stays so.
  const isSame = current && 'every' in current && current.every === every && current.for === length && current.tz === tz
  return isSame ? current : { every, for: length, tz }
}

function readOnce(body: JsonObject, now: Micros): Window['time'] {
  const starts = isGiven(body.starts) ? readInstant(body.starts, 'starts') : microsOfSeconds(Math.floor(toSeconds(now)))
  if (isGiven(body.for)) {
    if (isGiven(body.ends)) throw invalid('for', 'has unexpected value')
    return { starts, ends: starts + microsOfSeconds(readNumber(body.for, 'for', LENGTH)) }
  }
  const ends = readInstant(body.ends, 'ends')
  if (ends - starts < microsOfSeconds(LENGTH.min)) throw invalid('ends', 'is too small')
  if (ends - starts > microsOfSeconds(LENGTH.max)) throw invalid('ends', 'is too large')
  return { starts, ends }
}

function readInstant(value: JsonValue | undefined, path: string): Micros {
  const text = readText(value, path, { max: 40 })
  const date = new Date(INSTANT.test(text) ? text : Number.NaN)
  if (Number.isNaN(date.getTime())) throw invalid(path, 'has unexpected value')
  return microsOfDate(date)
}
