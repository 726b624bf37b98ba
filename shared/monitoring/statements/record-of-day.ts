import { type Micros, microsOfMillis, microsOfSeconds, toIsoSeconds } from '../../time.ts'
import { type DayRecord, sumsOfDay } from '../../transparency/statements/day-record.ts'
import type { WindowTime } from '../maintenance/window.ts'

export interface DayFacts {
  checkId: number
  uniqueKey: string
  settings: Record<string, string | number>
  /** at the beginning of the day; null if the check did not exist */
  first: string | null
  flips: readonly { at: Micros; to: string; reason: string }[]
  unknown: readonly WindowTime[]
  excluded: readonly WindowTime[]
}

/** `date` is `YYYY-MM-DD`, UTC. */
export function spanOfDate(date: string): WindowTime {
  const from = microsOfMillis(Date.parse(`${date}T00:00:00Z`))
  return { from, until: from + microsOfSeconds(86_400) }
}

/** Cuts to the day and to seconds (docs/spec/alerting.md#daily-statements). `nonce` is 128 bits in hex. */
export function recordOfDay(facts: DayFacts, date: string, nonce: string): DayRecord {
  const day = spanOfDate(date)
  const cut = (spans: readonly WindowTime[]): [string, string][] =>
    spans
      .map(({ from, until }) => ({ from: Math.max(from, day.from), until: Math.min(until, day.until) }))
      .filter(({ from, until }) => from < until)
      .map(({ from, until }) => [toIsoSeconds(from), toIsoSeconds(until)])
  const content = {
    date,
    first: facts.first,
    flips: facts.flips.map(({ at, to, reason }): [string, string, string] => [toIsoSeconds(at), to, reason]),
    unknown: cut(facts.unknown),
    excluded: cut(facts.excluded),
  }
  const { up, down } = sumsOfDay(content)
  return { v: 1, check: facts.uniqueKey, nonce, settings: facts.settings, ...content, up, down }
}
