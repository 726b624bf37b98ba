import { type Micros, microsOfSeconds } from '../../time.ts'
import { guessKind, nextOccurrence } from '../schedules/schedule.ts'
import { isAbout, timesOf, type Window, type WindowTime } from './window.ts'

interface About {
  uuid: string
  tags: readonly string[]
}

export const WEEK: Micros = microsOfSeconds(604_800)
const DAY: Micros = microsOfSeconds(86_400)

export function merged(spans: readonly WindowTime[]): WindowTime[] {
  const result: WindowTime[] = []
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1)
    if (last && span.from <= last.until) last.until = Math.max(last.until, span.until)
    else result.push({ ...span })
  }
  return result
}

export function without(span: WindowTime, taken: readonly WindowTime[]): WindowTime[] {
  const left: WindowTime[] = []
  let { from } = span
  for (const each of taken) {
    if (each.until <= from) continue
    if (each.from >= span.until) break
    if (each.from > from) left.push({ from, until: each.from })
    from = Math.max(from, each.until)
  }
  if (from < span.until) left.push({ from, until: span.until })
  return left
}

export function covered(spans: readonly WindowTime[], from: Micros, until: Micros): Micros {
  return spans.reduce((sum, span) => sum + Math.max(0, Math.min(span.until, until) - Math.max(span.from, from)), 0)
}

export interface TimedWindow<W extends Window = Window> {
  window: W
  times: readonly WindowTime[]
}

/** Maximum number of occurrences for all windows. Beyond it, the oldest are omitted. */
const MAX_TIMES = 20_000

/** Returns the occurrences of each window, once for all checks. Yields after each window. */
export function* timedWindows<W extends Window>(
  windows: readonly W[],
  from: Micros,
  until: Micros,
): Generator<undefined, TimedWindow<W>[]> {
  let left = MAX_TIMES
  const timed: TimedWindow<W>[] = []
  for (const window of windows) {
    if ('starts' in window.time) {
      timed.push({ window, times: timesOf(window, from, until) })
      continue
    }
    const times: WindowTime[] = []
    // Day by day from the newest, because timesOf returns a bounded number of the oldest occurrences.
    for (let end = until; end > from && left > 0; end -= DAY) {
      const found = timesOf(window, Math.max(from, end - DAY), end)
      left -= found.length + 1
      times.push(...found)
    }
    timed.push({ window, times: merged(times) })
    yield
  }
  return timed
}

export function spansOf(windows: readonly TimedWindow[], check: About): WindowTime[] {
  return merged(windows.filter(({ window }) => isAbout(window, check)).flatMap(({ times }) => times))
}

/** See docs/spec/alerting.md#maintenance-windows. */
export function excludedSpans(windows: readonly TimedWindow[], check: About): WindowTime[] {
  return spansOf(
    windows.filter(({ window }) => window.uptime === 'exclude'),
    check,
  )
}

export interface OpenWindow<W extends Window = Window> {
  window: W
  until: Micros
}

export function* openWindows<W extends Window>(
  windows: readonly W[],
  now: Micros,
): Generator<undefined, OpenWindow<W>[]> {
  const open: OpenWindow<W>[] = []
  for (const window of windows) {
    for (const { until } of timesOf(window, now, now + 1)) open.push({ window, until })
    yield
  }
  return open
}

export function windowNow<W extends Window>(windows: readonly OpenWindow<W>[], check: About): OpenWindow<W> | null {
  const open = windows.filter(({ window }) => isAbout(window, check))
  return open.reduce<OpenWindow<W> | null>(
    (last, each) => (last === null || each.until > last.until ? each : last),
    null,
  )
}

export function nextTime({ time }: Pick<Window, 'time'>, now: Micros): WindowTime | null {
  if ('starts' in time) return time.ends > now ? { from: time.starts, until: time.ends } : null
  const length = microsOfSeconds(time.for)
  const next = (after: Micros) => nextOccurrence(guessKind(time.every), time.every, time.tz, after)
  // Only occurrences that were ended early can be over.
  for (let from = next(now - length); from !== null; from = next(from)) {
    const begin = from
    const until = time.cuts?.find((cut) => cut.from === begin)?.until ?? begin + length
    if (until > now) return { from, until }
  }
  return null
}

/** Returns true if windows cover more than half of the coming week, so that most outages would be suppressed. */
export function coversMuchOfWeek(windows: readonly TimedWindow[], check: About, now: Micros): boolean {
  return covered(spansOf(windows, check), now, now + WEEK) > WEEK / 2
}
