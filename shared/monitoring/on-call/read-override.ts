import { type Micros, microsOfSeconds, toSeconds } from '../../time.ts'
import { invalid, isPresent, readInstant, readText, refuseUnknown } from '../alerting/fields.ts'
import type { JsonObject } from '../checks/json-body.ts'
import { readPerson } from './read-schedule.ts'
import { DAY_SECONDS, type Override } from './schedule.ts'

export type OverrideFields = Omit<Override, 'number'> & { note: string }

const MEMBERS = ['person', 'replaces', 'start', 'end', 'note']
const MIN_SECONDS = 60
const MAX_DAYS = 366

/** A start in the past becomes now. @throws ValidationError for the first invalid member */
export function readOverride(body: JsonObject, now: Micros): OverrideFields {
  if (body.person === undefined) throw invalid('person', 'is required; null means that no person is on call')
  const person = body.person === null ? null : readPerson(body.person, 'person')
  const replaces = isPresent(body.replaces) ? readPerson(body.replaces, 'replaces') : null
  const times = readSpan(body, '', now)
  const note = isPresent(body.note) ? readText(body.note, 'note', { max: 500 }) : ''
  refuseUnknown(body, '', [...MEMBERS, 'api_key'])
  return { person, replaces, ...times, note }
}

/** Reads `start` and `end`. @param path empty or `back.` */
export function readSpan(body: JsonObject, path: string, now: Micros): { start: Micros; end: Micros } {
  const current = microsOfSeconds(Math.floor(toSeconds(now)))
  const start = isPresent(body.start) ? Math.max(current, readInstant(body.start, `${path}start`)) : current
  const end = readInstant(body.end, `${path}end`)
  if (end <= now) throw invalid(`${path}end`, 'is in the past')
  const length = toSeconds(end - start)
  if (length < MIN_SECONDS || length > MAX_DAYS * DAY_SECONDS) {
    throw invalid(`${path}end`, `must be ${MIN_SECONDS} seconds to ${MAX_DAYS} days after start`)
  }
  return { start, end }
}
