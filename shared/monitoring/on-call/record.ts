import type { Micros } from '../../time.ts'
import { HORIZON, nextChange, type Shift, shifts } from './on-call.ts'
import type { OnCallFacts } from './schedule.ts'

/** A row without end: the person is on call now. */
export interface OpenShift {
  person: string
  from: Micros
}

export interface Recording {
  /** end of the open row; null: it continues, or there is none */
  close: Micros | null
  /** rows to add; the last one may be without end */
  add: readonly (Omit<Shift, 'until'> & { until: Micros | null })[]
  nextChangeAt: Micros
}

/**
 * Returns the rows that record the time up to `now`. `facts` have applied since `nextChangeAt`, the instant up to which
 * rows are recorded; null for a new schedule. After `now`, a change of the facts is the only reason to record earlier.
 */
export function recordUntil(
  facts: OnCallFacts,
  { open, nextChangeAt }: { open: OpenShift | null; nextChangeAt: Micros | null },
  now: Micros,
): Recording {
  const from = Math.min(nextChangeAt ?? now, now)
  const [first, ...later] = shifts(facts, from, now + 1)
  const isContinued = first !== undefined && first.person === open?.person && first.from === from
  const added = first === undefined || isContinued ? later : [first, ...later]
  const continuedUntil = isContinued && first.until <= now ? first.until : null
  return {
    close: open === null ? null : isContinued ? continuedUntil : from,
    add: added.map((shift) => ({ ...shift, until: shift.until > now ? null : shift.until })),
    nextChangeAt: nextChange(facts, now) ?? now + HORIZON,
  }
}

/** Joins recorded rows with computed shifts that begin where the rows end. Rows end at `nextChangeAt` or `now`. */
export function timeline(
  facts: OnCallFacts,
  recorded: { rows: readonly (Omit<Shift, 'until'> & { until: Micros | null })[]; nextChangeAt: Micros | null },
  span: { from: Micros; until: Micros; now: Micros },
): Shift[] {
  const { from, until, now } = span
  const computedFrom = Math.min(recorded.nextChangeAt ?? now, now)
  const past = recorded.rows
    .map((row) => ({ ...row, until: row.until ?? computedFrom }))
    // A row that ends at `from` is the begin of a shift that continues.
    .filter((row) => row.until >= from && row.from < until && row.from < row.until)
  // A computed shift that was cut at the end of the rows continues the last of them.
  const computed = until > computedFrom ? shifts(facts, Math.max(computedFrom, 0), until) : []
  const last = past.at(-1)
  const [first] = computed
  if (last && first && last.until === computedFrom && first.from === computedFrom && last.person === first.person) {
    past.splice(-1, 1, { ...last, until: first.until })
    computed.shift()
  }
  return [...past, ...computed].filter((shift) => shift.until > from)
}

/** Returns who is on call now and next, from a list that continues long enough. */
export function currentAndNext(list: readonly Shift[], at: Micros): { current: Shift | null; next: Shift | null } {
  const current = list.find((shift) => shift.from <= at && at < shift.until) ?? null
  const next = list.find((shift) => shift.from >= (current?.until ?? at + 1)) ?? null
  return { current, next }
}
