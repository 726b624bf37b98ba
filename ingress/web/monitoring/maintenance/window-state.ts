import type { JsonObject, JsonValue } from '#shared/monitoring/checks/json-body.ts'
import type { Window } from '#shared/monitoring/maintenance/window.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { resolveTimeZone } from '#shared/monitoring/schedules/time-zones.ts'
import { microsOfDate, microsOfSeconds, toIsoSeconds, toSeconds } from '#shared/time.ts'
import { field } from '../../shell/context.ts'
import { secondsOf, splitDuration } from '../../shell/format.ts'

/** What the form of a window shows: texts as they were typed. */
export interface WindowFormState {
  values: Readonly<Record<string, string>>
  flags: ReadonlySet<string>
  /** uuids of checks that are chosen */
  checks: readonly string[]
}

const TEXTS = ['name', 'match', 'kind', 'starts', 'every', 'for', 'for_unit', 'tz', 'add_check']
const FLAGS = ['exclude', 'shown']
/** As fields for a date and a time send it, with or without seconds. */
const LOCAL = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)$/

/** The form of a new window: an hour from now on. */
export const NEW_WINDOW: WindowFormState = {
  values: { name: '', match: '', kind: 'once', starts: '', every: '', for: '1', for_unit: 'hours', tz: 'UTC' },
  flags: new Set(['exclude']),
  checks: [],
}

/** The form of a window as it is; its begin in UTC. */
export function stateOfWindow({ name, match, checks, time, uptime, shown }: Window): WindowFormState {
  const isOnce = 'starts' in time
  const { count, unit } = splitDuration(isOnce ? toSeconds(time.ends - time.starts) : time.for)
  return {
    values: {
      name,
      match,
      kind: isOnce ? 'once' : 'recurring',
      starts: isOnce ? toIsoSeconds(time.starts).slice(0, 19) : '',
      every: isOnce ? '' : time.every,
      for: String(count),
      for_unit: unit,
      tz: isOnce ? 'UTC' : time.tz,
    },
    flags: new Set([...(uptime === 'exclude' ? ['exclude'] : []), ...(shown ? ['shown'] : [])]),
    checks,
  }
}

/** The form as it was sent. */
export function stateOfForm(form: URLSearchParams): WindowFormState {
  return {
    values: Object.fromEntries(TEXTS.map((name) => [name, field(form, name)])),
    flags: new Set(FLAGS.filter((name) => form.has(name))),
    checks: form.getAll('check').slice(0, 500),
  }
}

/** The form as a request of the API, whose rules then decide; members of the other kind of time are reset. */
export function bodyOfState({ values, flags, checks }: WindowFormState): JsonObject {
  const at = (name: string): string => values[name] ?? ''
  const length = at('for') === '' ? null : wholeSeconds(at('for'), at('for_unit'))
  const time: JsonObject =
    at('kind') === 'recurring'
      ? { every: at('every'), for: length, tz: at('tz') || null }
      : { starts: at('starts') === '' ? null : instantIn(at('starts'), at('tz')), for: length }
  return {
    name: at('name'),
    match: at('match'),
    checks: [...checks],
    ...time,
    uptime: flags.has('exclude') ? 'exclude' : 'count',
    shown: flags.has('shown'),
  }
}

function wholeSeconds(text: string, unit: string): JsonValue {
  const seconds = secondsOf(text, unit)
  return Number.isInteger(seconds) ? seconds : text
}

/**
 * A date and a time by the clock of a zone as an instant; one that a change of clocks leaves out is moved as a schedule
 * would. What is neither is left as text, for the API's rule to refuse.
 */
function instantIn(text: string, tz: string): string {
  const [, date, time] = LOCAL.exec(text) ?? []
  const zone = resolveTimeZone(tz || 'UTC')
  const near = new Date(`${date}T${time}Z`)
  if (date === undefined || zone === null || Number.isNaN(near.getTime())) return text
  const at = nextOccurrence('oncalendar', `${date} ${time}`, zone, microsOfDate(near) - microsOfSeconds(2 * 86_400))
  return at === null ? text : toIsoSeconds(at)
}

const RULES: readonly { name: RegExp; field: string; text: string }[] = [
  { name: /^name$/, field: 'name', text: 'At most 100 characters.' },
  { name: /^match$/, field: 'match', text: 'Say which checks: tags, * for all of them, or checks by name below.' },
  { name: /^checks/, field: 'add_check', text: 'At most 500 checks; use tags.' },
  { name: /^starts$/, field: 'starts', text: 'A date and a time, as 2026-11-22 01:00.' },
  {
    name: /^every$/,
    field: 'every',
    text: 'This is neither a cron nor an OnCalendar expression, or it never occurs in the time zone.',
  },
  { name: /^(for|ends)$/, field: 'for', text: 'A number; from 1 minute to 30 days.' },
  { name: /^tz$/, field: 'tz', text: 'There is no such time zone.' },
]

/** What the rules of the API refused, beside its field; under '' what belongs to none. */
export function errorsOf(message: string): ReadonlyMap<string, string> {
  const path = /^json validation error: (\S+) /.exec(message)?.[1] ?? ''
  const rule = RULES.find(({ name }) => name.test(path))
  return new Map([rule ? [rule.field, rule.text] : ['', message]])
}

/** A zone that a time is given in is looked at even where the API would not ask for it. */
export function hasUnknownZone({ values }: WindowFormState): boolean {
  return resolveTimeZone(values.tz || 'UTC') === null
}
