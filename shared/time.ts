declare const unit: unique symbol

/**
 * Whole microseconds as in timestamptz, since the Unix epoch; exact until the year 2255. The type accepts a plain
 * number, but no other unit. Only this file converts units.
 */
export type Micros = number & { readonly [unit]?: 'microseconds' }
/** A fraction is possible after a conversion. */
export type Millis = number & { readonly [unit]?: 'milliseconds' }
export type Seconds = number & { readonly [unit]?: 'seconds' }

const PER_MILLI = 1000
const PER_SECOND = 1_000_000

let wallAtZero = 0

/** Microseconds come from the monotonic clock, which is synchronized when the two differ. */
export function nowMicros(): Micros {
  const wall = Date.now() * PER_MILLI
  const monotonic = Math.floor(monotonicMicros())
  const now = wallAtZero + monotonic
  if (now >= wall && now < wall + PER_MILLI) return now
  wallAtZero = wall - monotonic
  return wall
}

/** Since the process started; the clock cannot be adjusted. */
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

/** A number cannot represent it. */
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
