import { type Micros, microsOfSeconds } from '../../time.ts'
import type { WindowTime } from '../maintenance/window.ts'
import { type LayerSpan, layerSpans } from './layer.ts'
import { DAY_SECONDS, type OnCallFacts, type Override } from './schedule.ts'
import { calendarOf } from './wall-time.ts'

/** Numbers are those of the layer in the list and of the override. */
export type Source = `layer ${number}` | `override ${number}` | 'fallback' | 'none'

export interface OnCall {
  /** null: no person is on call */
  person: string | null
  source: Source
}

export interface OnCallSpan extends OnCall, WindowTime {}

/** Unbroken time in which one person is on call; `source` is that of its beginning. */
export interface Shift extends WindowTime {
  person: string
  source: Source
}

const DAY: Micros = microsOfSeconds(DAY_SECONDS)
/** The maximum distance of `nextChange`. */
export const HORIZON: Micros = 400 * DAY

/** See docs/on-call.md#rules. */
export function onCallAt(facts: OnCallFacts, at: Micros): OnCall {
  const [{ person, source } = { person: null, source: 'none' as const }] = onCallSpans(facts, at, at + 1)
  return { person, source }
}

/** Lists the shifts from `from` to `until`, in order; the first and the last are cut there. */
export function shifts(facts: OnCallFacts, from: Micros, until: Micros): Shift[] {
  return shiftsOf(onCallSpans(facts, from, until))
}

/** Joins adjoining spans of one person. */
function shiftsOf(spans: readonly OnCallSpan[]): Shift[] {
  const result: Shift[] = []
  for (const { person, source, from, until } of spans) {
    if (person === null) continue
    const last = result.at(-1)
    if (last?.person === person && last.until === from) last.until = until
    else result.push({ person, source, from, until })
  }
  return result
}

/** Returns the first later instant at which another person is on call; null if that is not within 400 days. */
export function nextChange(facts: OnCallFacts, at: Micros): Micros | null {
  // Most changes are near, so most calls need a short list.
  for (const days of [2, 16, 100, 400]) {
    const [first, ...later] = onCallSpans(facts, at, at + days * DAY)
    const change = later.find(({ person }) => person !== first?.person)
    if (change) return change.from
  }
  return null
}

/** Lists who is on call from `from` to `until` without a gap: time without a person is a span, too. */
export function onCallSpans({ schedule, overrides, members }: OnCallFacts, from: Micros, until: Micros): OnCallSpan[] {
  if (until <= from) return []
  const calendar = calendarOf(schedule)
  let spans: OnCallSpan[] = [{ from, until, person: null, source: 'none' }]
  for (const [index, layer] of schedule.layers.entries()) {
    const own = layerSpans(layer, calendar, from, until).filter(({ person }) => members.has(person))
    spans = filled(spans, own, `layer ${index + 1}`)
  }
  for (const override of overrides) {
    const isIgnored = override.person !== null && !members.has(override.person)
    if (!isIgnored && override.start < until && override.end > from) apply(override, spans)
  }
  const { fallback } = schedule
  if (fallback !== null && members.has(fallback)) {
    spans = spans.map((span) => (span.person === null ? { ...span, person: fallback, source: 'fallback' } : span))
  }
  return joined(spans)
}

/** Gives time without a person to the people of a lower layer. */
function filled(spans: readonly OnCallSpan[], layer: readonly LayerSpan[], source: Source): OnCallSpan[] {
  const result: OnCallSpan[] = []
  let first = 0
  for (const span of spans) {
    if (span.person !== null) {
      result.push(span)
      continue
    }
    let { from } = span
    while ((layer[first]?.until ?? Number.POSITIVE_INFINITY) <= from) first += 1
    for (let index = first; index < layer.length; index += 1) {
      const own = layer[index]
      if (!own || own.from >= span.until) break
      if (own.from > from) result.push({ ...span, from, until: own.from })
      from = Math.max(from, own.from)
      const until = Math.min(span.until, own.until)
      result.push({ from, until, person: own.person, source })
      from = until
    }
    if (from < span.until) result.push({ ...span, from })
  }
  return result
}

/** Changes `spans`. */
function apply({ number, person, replaces, start, end }: Override, spans: OnCallSpan[]): void {
  const first = spans.findIndex((span) => span.until > start)
  const after = spans.findIndex((span) => span.from >= end)
  const affected = spans.slice(first, after < 0 ? spans.length : after)
  const changed = affected.flatMap((span): OnCallSpan[] => {
    if (replaces !== null && span.person !== replaces) return [span]
    const from = Math.max(span.from, start)
    const until = Math.min(span.until, end)
    const replaced: OnCallSpan = { from, until, person, source: `override ${number}` }
    return [{ ...span, until: from }, replaced, { ...span, from: until }].filter((part) => part.from < part.until)
  })
  spans.splice(first, affected.length, ...changed)
}

function joined(spans: readonly OnCallSpan[]): OnCallSpan[] {
  const result: OnCallSpan[] = []
  for (const span of spans) {
    const last = result.at(-1)
    if (last && last.person === span.person && last.source === span.source) last.until = span.until
    else result.push({ ...span })
  }
  return result
}
