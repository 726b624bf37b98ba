import type { Downtime } from '#shared/monitoring/flips/downtime.ts'
import { covered } from '#shared/monitoring/maintenance/spans.ts'
import type { WindowTime } from '#shared/monitoring/maintenance/window.ts'
import { type Micros, microsOfSeconds, toSeconds } from '#shared/time.ts'

/** Longer runs are cut, because they would flatten all others. */
const CUT_AT_MEDIANS = 3

export interface Scale {
  top: Micros
  median: Micros
  longest: Micros
  /** lengths with a line: zero, half and the maximum */
  lines: readonly Micros[]
}

/** @param lengths at least one */
export function scaleOf(lengths: readonly Micros[]): Scale {
  const sorted = lengths.toSorted((a, b) => a - b)
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0
  const longest = Math.max(sorted.at(-1) ?? 0, 1)
  const wanted = median > 0 ? Math.min(longest, median * CUT_AT_MEDIANS) : longest
  const top = microsOfSeconds(roundUp(toSeconds(wanted)))
  return { top, median, longest, lines: [0, top / 2, top] }
}

/** Durations in seconds whose labels, and those of their halves, are short. */
const STEPS = [1, 2, 4, 6, 10, 20, 30, 60, 120, 240, 360, 600, 1200, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400]

function roundUp(seconds: number): number {
  if (seconds >= 86_400) return Math.ceil(seconds / 86_400) * 86_400
  if (seconds > 1) return STEPS.find((step) => step >= seconds) ?? 86_400
  const power = 10 ** Math.floor(Math.log10(Math.max(seconds, 1e-4)))
  return ([1, 2, 4, 6, 10].find((step) => step * power >= seconds * 0.999) ?? 10) * power
}

/**
 * Returns less than 100 if there was an outage, without rounding up.
 * @param from time of the first known state
 * @param excluded merged periods that count neither as uptime nor as downtime
 */
export function percentUp(
  { until, seconds, count }: Omit<Downtime, 'from'>,
  from: Micros,
  excluded: readonly WindowTime[] = [],
): string {
  const total = toSeconds(until - from - covered(excluded, from, until))
  if (count === 0 || total <= 0) return '100 %'
  const share = Math.max(0, 1 - seconds / total)
  return `${(Math.floor(share * 100_00) / 100).toFixed(2)} %`
}
