import { hash } from 'node:crypto'
import { canonicalize } from '../../canonical/jcs.ts'
import type { JsonObject, JsonValue } from '../../canonical/parse-json.ts'

/** See docs/spec/alerting.md#daily-statements. */
export const DAY_EVENT_TYPE = 'monitoring.day'

/** Instants are `YYYY-MM-DDTHH:MM:SS+00:00`, sums are whole seconds. */
export interface DayRecord {
  v: 1
  check: string
  /** `YYYY-MM-DD`, UTC */
  date: string
  /** 128 random bits in hex; a short day could be guessed from its hash */
  nonce: string
  settings: Record<string, string | number>
  /** at the beginning of the day; null if the check did not exist */
  first: string | null
  /** instant, new status, reason */
  flips: [string, string, string][]
  unknown: [string, string][]
  /** maintenance that does not count */
  excluded: [string, string][]
  up: number
  down: number
}

/** Whole seconds; the rest of the day was off or excluded. */
export interface DaySums {
  up: number
  down: number
  unknown: number
}

const DAY = 86_400

/** Each second counts once (docs/spec/alerting.md#coverage-invariants). */
export function sumsOfDay({
  date,
  first,
  flips,
  unknown,
  excluded,
}: Pick<DayRecord, 'date' | 'first' | 'flips' | 'unknown' | 'excluded'>): DaySums {
  const begin = Date.parse(`${date}T00:00:00Z`) / 1000
  const second = (instant: string) => Math.min(DAY, Math.max(0, Math.floor(Date.parse(instant) / 1000) - begin))
  const changes = flips.map(([at, to]) => ({ at: second(at), to }))
  const [unavailable, excludedSpans] = [unknown, excluded].map((spans) =>
    spans.map(([from, until]) => [second(from), second(until)]),
  )
  const instants = [
    ...changes.map(({ at }) => at),
    ...[...(unavailable ?? []), ...(excludedSpans ?? [])].flat(),
    0,
    DAY,
  ]
  const sums = { up: 0, down: 0, unknown: 0 }
  const ordered = [...new Set(instants)].toSorted((a, b) => a - b)
  for (const [index, from] of ordered.entries()) {
    const length = (ordered[index + 1] ?? DAY) - from
    const isIn = (spans: number[][] | undefined) => (spans ?? []).some(([a = 0, b = 0]) => a <= from && from < b)
    const status = changes.findLast(({ at }) => at <= from)?.to ?? first
    if ((status !== 'up' && status !== 'down') || isIn(excludedSpans)) continue
    sums[status === 'up' && isIn(unavailable) ? 'unknown' : status] += length
  }
  return sums
}

/** Of the canonical JSON, as the statement lists it. */
export function recordHash(record: object): string {
  return hash('sha256', canonicalize(record), 'hex')
}

/** Attacker-controlled; undefined when malformed. */
export function readRecord(value: JsonValue): DayRecord | undefined {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined
  const { v, check, date, nonce, first, up, down, settings } = value
  const flips = listOf(value.flips, 3)
  const unknown = listOf(value.unknown, 2)
  const excluded = listOf(value.excluded, 2)
  if (v !== 1 || typeof check !== 'string' || typeof nonce !== 'string' || !isDate(date)) return undefined
  if (typeof up !== 'number' || typeof down !== 'number' || (first !== null && typeof first !== 'string'))
    return undefined
  if (!flips || !unknown || !excluded || !isSettings(settings)) return undefined
  if (![...flips, ...unknown, ...excluded].every(([at = '']) => !Number.isNaN(Date.parse(at)))) return undefined
  return {
    v,
    check,
    date,
    nonce,
    settings,
    first,
    flips: flips.map(([at = '', to = '', reason = '']) => [at, to, reason]),
    unknown: unknown.map(([from = '', until = '']) => [from, until]),
    excluded: excluded.map(([from = '', until = '']) => [from, until]),
    up,
    down,
  }
}

export function isDate(value: JsonValue | undefined): value is string {
  if (typeof value !== 'string' || !/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(value)) return false
  const day = new Date(`${value}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(value)
}

/** Both included, `YYYY-MM-DD`. */
export function datesBetween(from: string, until: string): string[] {
  const dates: string[] = []
  for (let at = Date.parse(`${from}T00:00:00Z`); at <= Date.parse(`${until}T00:00:00Z`); at += DAY * 1000)
    dates.push(new Date(at).toISOString().slice(0, 10))
  return dates
}

function listOf(value: JsonValue | undefined, length: number): string[][] | undefined {
  if (!Array.isArray(value)) return undefined
  const lists = value.map((item) =>
    Array.isArray(item) && item.length === length && item.every((part) => typeof part === 'string') ? item : undefined,
  )
  return lists.every((item) => item !== undefined) ? lists : undefined
}

function isSettings(value: JsonValue | undefined): value is JsonObject & Record<string, string | number> {
  if (value === null || value === undefined || typeof value !== 'object' || Array.isArray(value)) return false
  return Object.values(value).every((each) => typeof each === 'string' || typeof each === 'number')
}
