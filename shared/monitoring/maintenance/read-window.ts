import { type Micros, microsOfSeconds, toSeconds } from '../../time.ts'
import {
  invalid,
  isPresent,
  readChoice,
  readInstant,
  readList,
  readNumber,
  readText,
  refuseUnknown,
} from '../alerting/fields.ts'
import type { JsonObject, JsonValue } from '../checks/json-body.ts'
import { isValidSchedule } from '../schedules/schedule.ts'
import { resolveTimeZone } from '../schedules/time-zones.ts'
import type { Window } from './window.ts'

export type WindowFields = Omit<Window, 'uuid'>
type SingleWindow = Extract<Window['time'], { starts: Micros }>
type Recurring = Extract<Window['time'], { every: string }>

const MEMBERS = ['name', 'match', 'checks', 'starts', 'ends', 'every', 'for', 'tz', 'uptime', 'shown', 'api_key']
const LENGTH = { min: 60, max: 2_592_000, unit: 'seconds' } as const
const MAX_CHECKS = 500

/**
 * Null resets a member to its default (docs/spec/alerting.md#maintenance-windows). @throws ValidationError for the
 * first invalid member
 */
export function readWindow(body: JsonObject, current: WindowFields | null, now: Micros): WindowFields {
  const changed = <T>(value: JsonValue | undefined, was: T | undefined, normal: T, read: (value: JsonValue) => T): T =>
    value === undefined ? (was ?? normal) : value === null ? normal : read(value)
  const fields: WindowFields = {
    name: changed(body.name, current?.name, '', (value) => readText(value, 'name', { max: 100 })),
    match: changed(body.match, current?.match, '', (value) => readText(value, 'match', { max: 500 })),
    checks: changed<readonly string[]>(body.checks, current?.checks, [], (value) =>
      readList(value, 'checks', { max: MAX_CHECKS }).map((it, index) => readText(it, `checks[${index}]`, { max: 100 })),
    ),
    time: readTime(body, current?.time ?? null, now),
    uptime: changed<Window['uptime']>(body.uptime, current?.uptime, 'count', (value) =>
      readChoice(value, 'uptime', ['count', 'exclude']),
    ),
    shown: changed(body.shown, current?.shown, false, (value) => {
      if (typeof value !== 'boolean') throw invalid('shown', 'must be true or false')
      return value
    }),
  }
  refuseUnknown(body, '', MEMBERS)
  if (fields.match.trim() === '' && fields.checks.length === 0) throw invalid('match', 'is required without checks')
  return fields
}

function readTime(body: JsonObject, current: Window['time'] | null, now: Micros): Window['time'] {
  const isTimed = ['starts', 'ends', 'every', 'for', 'tz'].some((member) => body[member] !== undefined)
  if (!isTimed && current) return current
  const recurring = current && 'every' in current ? current : null
  const hasSingleDates = body.starts !== undefined || body.ends !== undefined
  if (isPresent(body.every) && (isPresent(body.starts) || isPresent(body.ends)))
    throw invalid('every', 'must not be given together with starts or ends')
  const isRecurring = isPresent(body.every) || (recurring && body.every === undefined && !hasSingleDates)
  if (isRecurring) return readRecurring(body, recurring)
  return readOnce(body, current && 'starts' in current ? current : null, now)
}

function readRecurring(body: JsonObject, current: Recurring | null): Recurring {
  const every = current && body.every === undefined ? current.every : readText(body.every, 'every', { max: 100 })
  if (!isValidSchedule(every)) throw invalid('every', 'is not a valid cron or OnCalendar expression')
  const length = current && body.for === undefined ? current.for : readNumber(body.for, 'for', LENGTH)
  const named = isPresent(body.tz) ? resolveTimeZone(readText(body.tz, 'tz', { max: 100 })) : 'UTC'
  const tz = current && body.tz === undefined ? current.tz : named
  if (tz === null) throw invalid('tz', 'is not a valid timezone')
  if (!isValidSchedule(every, tz)) throw invalid('every', 'is not a valid cron or OnCalendar expression')
  // Unchanged times, for example from a form, keep their early ends.
  const isSame = current && current.every === every && current.for === length && current.tz === tz
  return isSame ? current : { every, for: length, tz }
}

/** A change of one end keeps the other; `for` counts from the start. */
function readOnce(body: JsonObject, current: SingleWindow | null, now: Micros): SingleWindow {
  const normal = microsOfSeconds(Math.floor(toSeconds(now)))
  const stored = body.starts === undefined ? current?.starts : undefined
  const starts = isPresent(body.starts) ? readInstant(body.starts, 'starts') : (stored ?? normal)
  if (isPresent(body.for)) {
    if (isPresent(body.ends)) throw invalid('for', 'must not be given together with ends')
    return { starts, ends: starts + microsOfSeconds(readNumber(body.for, 'for', LENGTH)) }
  }
  const ends = current && body.ends === undefined ? current.ends : readInstant(body.ends, 'ends')
  if (ends - starts < microsOfSeconds(LENGTH.min) || ends - starts > microsOfSeconds(LENGTH.max)) {
    throw invalid('ends', `must be ${LENGTH.min} to ${LENGTH.max} seconds after starts`)
  }
  return { starts, ends }
}
