import type { Downtime } from '#shared/monitoring/flips/downtime.ts'
import { covered } from '#shared/monitoring/maintenance/spans.ts'
import type { WindowTime } from '#shared/monitoring/maintenance/window.ts'
import { type Micros, toSeconds } from '#shared/time.ts'

/**
 * Never rounded up to 100 when there was an outage.
 * @param from when anything was known first
 * @param excluded merged: time that does not count, neither as up nor as down
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
