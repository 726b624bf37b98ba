declare const unit: unique symbol

/**
 * Instants and durations in whole microseconds, the resolution of PostgreSQL's timestamptz; instants since the Unix
 * epoch. A number is exact until the year 2255. The type accepts a plain number, for sums and rows, but no other unit.
 * Only this file converts units.
 */
export type Micros = number & { readonly [unit]?: 'microseconds' }
/** Milliseconds, with a fraction if converted from microseconds. */
export type Millis = number & { readonly [unit]?: 'milliseconds' }
/** Seconds, with a fraction if converted from microseconds. */
export type Seconds = number & { readonly [unit]?: 'seconds' }

const PER_MILLI = 1000
const PER_SECOND = 1_000_000

let wallAtZero = 0

/**
 * Returns the wall clock. Its microseconds come from the monotonic clock, which is synchronized when the two differ.
 */
export function nowMicros(): Micros {
  const wall = Date.now() * PER_MILLI
  const monotonic = Math.floor(monotonicMicros())
  const now = wallAtZero + monotonic
  if (now >= wall && now < wall + PER_MILLI) return now
  wallAtZero = wall - monotonic
  return wall
}

/** Time since the process started, of a clock that cannot be adjusted; not rounded. */
export function monotonicMicros(): Micros {
  return performance.now() * PER_MILLI
}

export function microsOfSeconds(seconds: Seconds): Micros {
  return seconds * PER_SECOND
}

export function microsOfMillis(ms: Millis): Micros {
  return ms * PER_MILLI
}

export function microsOfDate(date: Date): Micros {
  return date.getTime() * PER_MILLI
}

export function toSeconds(micros: Micros): Seconds {
  return micros / PER_SECOND
}

export function toMillis(micros: Micros): Millis {
  return micros / PER_MILLI
}

/** As bigint, because a number cannot represent it. */
export function toNanos(at: Micros): bigint {
  return BigInt(at) * BigInt(PER_MILLI)
}

/** Truncates the fraction of a millisecond. */
export function toDate(at: Micros): Date {
  return new Date(at / PER_MILLI)
}

/** `YYYY-MM-DDTHH:MM:SS+00:00`, truncated, never rounded (docs/spec/monitoring.md#check-object). */
export function toIsoSeconds(at: Micros): string {
  return `${isoPrefix(at)}+00:00`
}

/** `YYYY-MM-DDTHH:MM:SS.fffZ`, as in the risk API and events. */
export function toIsoMillis(at: Micros): string {
  return toDate(at).toISOString()
}

/** `YYYY-MM-DDTHH:MM:SS.ffffff+00:00`, always six digits (docs/spec/monitoring.md#pings-list). */
export function toIsoMicros(at: Micros): string {
  const fraction = ((at % PER_SECOND) + PER_SECOND) % PER_SECOND
  return `${isoPrefix(at)}.${String(fraction).padStart(6, '0')}+00:00`
}

function isoPrefix(at: Micros): string {
  return new Date(Math.floor(at / PER_SECOND) * 1000).toISOString().slice(0, 19)
}
