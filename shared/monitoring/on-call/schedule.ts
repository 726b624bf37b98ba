import type { Micros } from '../../time.ts'

/** `hol` is the only day of a date in `holidays`. */
export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun', 'hol'] as const
export type Day = (typeof DAYS)[number]

export const UNITS = ['hour', 'day', 'week'] as const

/** `from` and `to` are `HH:MM`; `to` is on the next day unless it is later than `from`. */
export interface Hours {
  days: readonly Day[]
  from: string
  to: string
}

export interface Rotation {
  unit: (typeof UNITS)[number]
  every: number
  /** only for `day`: the days that count; null means all */
  on: readonly Day[] | null
}

/** `start` and `end` are wall times `YYYY-MM-DDTHH:MM` in the zone of the schedule. */
export interface Layer {
  name: string
  /** e-mail addresses in the order of the rotation; repeats allowed */
  people: readonly string[]
  start: string
  end: string | null
  rotation: Rotation
  /** empty: always */
  hours: readonly Hours[]
}

/** The members that decide who is on call (docs/on-call.md#rules). */
export interface Rota {
  tz: string
  /** dates `YYYY-MM-DD` */
  holidays: readonly string[]
  layers: readonly Layer[]
  fallback: string | null
}

export interface ScheduleFields extends Rota {
  name: string
  /** other projects of the organisation may read it and use it in steps */
  shared: boolean
  /** read-only keys and metrics see names */
  show_names: boolean
  coverage: 'always' | 'none' | readonly Hours[]
  notices: { channels: readonly string[] | null; gaps: boolean }
}

export interface Override {
  /** position in the order of creation, from 1 */
  number: number
  /** null: no person */
  person: string | null
  /** applies only to the time of this person; null: to any time */
  replaces: string | null
  start: Micros
  end: Micros
}

/** The loaded facts that decide who is on call at any instant. */
export interface OnCallFacts {
  schedule: Rota
  /** in the order of creation */
  overrides: readonly Override[]
  /** addresses of the members of the organisation with the right `respond` */
  members: ReadonlySet<string>
}

export const DAY_SECONDS = 86_400
