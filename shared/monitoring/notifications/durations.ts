import { type Micros, toSeconds } from '../../time.ts'

/**
 * A length in the two largest units that fit: `2 days, 1 hour`, `1 hour, 30 minutes`, `5 minutes, 0 seconds`,
 * `45 seconds` (docs/spec/monitoring.md#webhooks). Fractions of a second are cut.
 */
export function formatDuration(length: Micros): string {
  const seconds = Math.max(0, Math.floor(toSeconds(length)))
  if (seconds >= 86_400) return `${count(seconds / 86_400, 'day')}, ${count((seconds % 86_400) / 3600, 'hour')}`
  if (seconds >= 3600) return `${count(seconds / 3600, 'hour')}, ${count((seconds % 3600) / 60, 'minute')}`
  if (seconds >= 60) return `${count(seconds / 60, 'minute')}, ${count(seconds % 60, 'second')}`
  return count(seconds, 'second')
}

/** A period or grace time as people set it: `1 day`, `1 hour 30 minutes`; units that are zero are left out. */
export function formatPeriod(seconds: number): string {
  const parts: [number, string][] = [
    [Math.floor(seconds / 604_800), 'week'],
    [Math.floor((seconds % 604_800) / 86_400), 'day'],
    [Math.floor((seconds % 86_400) / 3600), 'hour'],
    [Math.floor((seconds % 3600) / 60), 'minute'],
    [Math.floor(seconds % 60), 'second'],
  ]
  const shown = parts.filter(([amount]) => amount > 0)
  return shown.length === 0 ? '0 seconds' : shown.map(([amount, unit]) => count(amount, unit)).join(' ')
}

function count(amount: number, unit: string): string {
  const whole = Math.floor(amount)
  return `${whole} ${unit}${whole === 1 ? '' : 's'}`
}
