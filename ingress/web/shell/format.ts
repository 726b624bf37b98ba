import { type Micros, toDate, toSeconds } from '#shared/time.ts'

const UNITS = [
  [86_400, 'd', 'day'],
  [3600, 'h', 'hour'],
  [60, 'min', 'minute'],
  [1, 's', 'second'],
] as const

/** `21 Nov`, in UTC. */
export const dayName = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** Formats seconds in at most two units: `1 d 2 h`, `45 s`, `0.25 s`. */
export function humanDuration(seconds: number): string {
  if (seconds < 10 && !Number.isInteger(seconds)) return `${Number(seconds.toFixed(2))} s`
  let rest = Math.round(seconds)
  const parts: string[] = []
  for (const [size, name] of UNITS) {
    const count = Math.floor(rest / size)
    if (count === 0) {
      if (parts.length > 0) break
      continue
    }
    parts.push(`${count} ${name}`)
    rest -= count * size
    if (parts.length === 2) break
  }
  return parts.join(' ') || '0 s'
}

/** Makes a sentence of an error message: `json validation error: until is required` becomes `Until is required.` */
export function sentenceOf({ message }: Error): string {
  const text = message.replace(/^json validation error: /, '').replace(/\.$/, '')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

/** `every hour`, `every 2 h 30 min` */
export function everyText(seconds: number): string {
  const single = UNITS.find(([size]) => size === seconds)
  return `every ${single ? single[2] : humanDuration(seconds)}`
}

/** One unit: `5 min ago`, `in 2 h`, `just now`. */
export function relativeTime(at: Micros, now: Micros): string {
  const seconds = Math.round(toSeconds(at - now))
  if (Math.abs(seconds) < 5) return seconds <= 0 ? 'just now' : 'in a moment'
  const text = distanceText(at, now)
  return seconds < 0 ? `${text} ago` : `in ${text}`
}

/** One unit: `22 min`; with two from an hour on: `1 h 35 min`. */
export function distanceText(at: Micros, now: Micros, units: 1 | 2 = 1): string {
  const distance = Math.abs(Math.round(toSeconds(at - now)))
  if (units === 2 && distance >= 3600) return humanDuration(distance)
  const [size, name] = UNITS.find(([unit]) => distance >= unit) ?? UNITS[3]
  return `${Math.floor(distance / size)} ${name}`
}

/** `Sat, 31 Jan, 10:00`; null if the runtime does not know the zone. */
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

/** `AB` for `anna.berg@example.org` and `Anna Berg`; '' for an integration */
export function initialsOf(by: string): string {
  if (by.startsWith('through ')) return ''
  const words = by.replace(/@.*/, '').split(/[^\p{L}]+/u)
  return words
    .map((word) => [...word][0] ?? '')
    .join('')
    .slice(0, 2)
    .toUpperCase()
}

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

/**
 * Converts a typed number and its unit to seconds. Returns other text unchanged, for the API's validation to refuse.
 */
export function secondsOf(text: string, unit: string | null | undefined): number | string {
  const seconds = Number(text) * (unit && isDurationUnit(unit) ? UNIT_SECONDS[unit] : 1)
  return text === '' || !Number.isFinite(seconds) ? text : seconds
}

/** Suggests a remedy for a refused address that only the operator can allow; empty for other errors. */
export function remedyFor(mistake: string): string {
  return mistake.includes('private address')
    ? ' The operator of this installation can allow it (ALLOW_PRIVATE_TARGETS).'
    : ''
}
