import type { JsonObject } from '#shared/monitoring/checks/json-body.ts'
import { calendarOf, wallSeconds } from '#shared/monitoring/on-call/wall-time.ts'
import { type Micros, microsOfSeconds, toIsoSeconds } from '#shared/time.ts'
import type { FormItem } from '../../forms/fields.tsx'
import { field } from '../../shell/context.ts'

const LOCAL = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::00)?$/
/** Clocks are set back by one of these. */
const SHIFTS = [1_200, 1_800, 3_600, 7_200]

export const OVERRIDE_NAMES = ['person', 'replaces', 'start', 'end', 'start_pass', 'end_pass', 'note']

/** The fields of a local time; a second one for a time that occurs twice. */
export function timeItems(
  { name, label, hint, isRequired = false }: { name: string; label: string; hint: string; isRequired?: boolean },
  repeated: ReadonlySet<string>,
): FormItem[] {
  return [
    { name, label, kind: 'datetime', hint, isRequired },
    ...(repeated.has(name)
      ? [
          {
            name: `${name}_pass`,
            label: `${label} occurs twice`,
            kind: 'select' as const,
            options: [
              { value: '', label: 'choose one' },
              { value: 'first', label: 'before the clocks change' },
              { value: 'second', label: 'after the clocks change' },
            ],
          },
        ]
      : []),
  ]
}

export function overrideItems(
  members: readonly { value: string; label: string }[],
  tz: string,
  repeated: ReadonlySet<string>,
): FormItem[] {
  const start = { name: 'start', label: 'Start', hint: `In ${tz}. Empty: now.` }
  const end = { name: 'end', label: 'End', hint: `In ${tz}.`, isRequired: true }
  return [
    { name: 'person', label: 'On call', kind: 'select', options: [...members, { value: '', label: 'no person' }] },
    {
      name: 'replaces',
      label: 'Only instead of',
      kind: 'select',
      options: [{ value: '', label: 'any person' }, ...members],
      hint: 'Then the override affects only the time of this person, also after later changes.',
    },
    {
      class: 'columns',
      items: [
        { class: 'stack', items: timeItems(start, repeated) },
        { class: 'stack', items: timeItems(end, repeated) },
      ],
    },
    { name: 'note', label: 'Note', maxLength: 500 },
  ]
}

export interface ReadOverride extends Omit<LocalTimes, 'instants'> {
  body: JsonObject
}

export interface LocalTimes {
  /** instants by field; null for an empty or invalid one */
  instants: Readonly<Record<string, string | null>>
  errors: Map<string, string>
  /** fields whose local time occurs twice */
  repeated: Set<string>
}

/** Converts local times of a zone to instants. A skipped time and an undecided repeated one are errors. */
export function readLocalTimes(form: URLSearchParams, names: readonly string[], tz: string): LocalTimes {
  const errors = new Map<string, string>()
  const repeated = new Set<string>()
  const instant = (name: string): string | null => {
    const text = field(form, name)
    if (text === '') return null
    const found = instantsOf(text, tz)
    if (found === null) errors.set(name, 'A date and a time, as 2026-11-22 09:00.')
    else if (found.length === 0) errors.set(name, 'The clocks skip this time.')
    else if (found.length > 1) {
      repeated.add(name)
      if (field(form, `${name}_pass`) === '') errors.set(name, 'The clocks show this time twice: choose one.')
    }
    const at = found?.[field(form, `${name}_pass`) === 'second' ? 1 : 0]
    return at === undefined ? null : toIsoSeconds(at)
  }
  return { instants: Object.fromEntries(names.map((name) => [name, instant(name)])), errors, repeated }
}

export function readOverrideForm(form: URLSearchParams, tz: string): ReadOverride {
  const { instants, errors, repeated } = readLocalTimes(form, ['start', 'end'], tz)
  const body: JsonObject = Object.assign(Object.create(null), {
    person: field(form, 'person') || null,
    replaces: field(form, 'replaces') || null,
    ...instants,
    note: field(form, 'note') || null,
  })
  if (field(form, 'end') === '') errors.set('end', 'Choose the end.')
  return { body, errors, repeated }
}

/** Returns the instants at which a clock shows a local time: none, one or two. Returns null for other text. */
export function instantsOf(text: string, tz: string): Micros[] | null {
  const [, date, time] = LOCAL.exec(text) ?? []
  const wall = wallSeconds(`${date}T${time}`)
  if (date === undefined || Number.isNaN(wall)) return null
  const { resolve, wallAt } = calendarOf({ tz, holidays: [] })
  const first = resolve(wall)
  const later = SHIFTS.map((seconds) => first + microsOfSeconds(seconds))
  return [first, ...later].filter((at) => wallAt(at) === wall)
}
