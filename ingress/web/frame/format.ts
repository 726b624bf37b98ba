import { type Micros, toDate, toSeconds } from '#shared/time.ts'

const UNITS = [
  [604_800, 'week'],
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const

/** Seconds as people say them, in at most two units: `1 day 2 hours`, `45 seconds`, `0.25 seconds`. */
export function humanDuration(seconds: number): string {
  if (seconds < 10 && !Number.isInteger(seconds)) return `${Number(seconds.toFixed(2))} seconds`
  let rest = Math.round(seconds)
  const parts: string[] = []
  for (const [size, name] of UNITS) {
    const count = Math.floor(rest / size)
    if (count === 0) {
      if (parts.length > 0) break
      continue
    }
    parts.push(`${count} ${name}${count === 1 ? '' : 's'}`)
    rest -= count * size
    if (parts.length === 2) break
  }
  return parts.join(' ') || '0 seconds'
}

/** `every hour`, `every 2 hours 30 minutes` */
export function everyText(seconds: number): string {
  return `every ${humanDuration(seconds)}`.replace(/^every 1 (\w+)$/, 'every $1')
}

/** `5 minutes ago`, `in 2 hours`, `just now`; one unit. */
export function relativeTime(at: Micros, now: Micros): string {
  const seconds = Math.round(toSeconds(at - now))
  const distance = Math.abs(seconds)
  if (distance < 5) return seconds <= 0 ? 'just now' : 'in a moment'
  const [size, name] = UNITS.find(([unit]) => distance >= unit && unit !== 604_800) ?? UNITS[4]
  const count = Math.floor(distance / size)
  const text = `${count} ${name}${count === 1 ? '' : 's'}`
  return seconds < 0 ? `${text} ago` : `in ${text}`
}

/** `Sat, 31 Jan, 10:00`, in a zone; null when this runtime does not know the zone. */
export function inZone(at: Micros, timeZone: string): string | null {
  try {
    const parts = new Intl.DateTimeFormat('en-GB', {
      timeZone,
      weekday: 'short',
      month: 'short',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
    }).format(toDate(at))
    return parts
  } catch {
    return null
  }
}

/** The largest unit that says a number of seconds exactly: for forms. */
export function splitDuration(seconds: number): { count: number; unit: DurationUnit } {
  for (const unit of ['days', 'hours', 'minutes'] as const) {
    if (seconds % UNIT_SECONDS[unit] === 0 && seconds > 0) return { count: seconds / UNIT_SECONDS[unit], unit }
  }
  return { count: seconds, unit: 'seconds' }
}

export const UNIT_SECONDS = { seconds: 1, minutes: 60, hours: 3600, days: 86_400 } as const
export type DurationUnit = keyof typeof UNIT_SECONDS

export function isDurationUnit(text: string): text is DurationUnit {
  return Object.hasOwn(UNIT_SECONDS, text)
}
