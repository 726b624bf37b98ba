declare const unit: unique symbol

/**
 * Instants and lengths of time: whole microseconds, instants since the Unix epoch, the resolution of PostgreSQL's
 * timestamptz. A number holds them exactly until the year 2255. A plain number passes for one, as sums and rows do; what
 * was converted to another unit does not. Conversions stand in this file alone.
 */
export type Micros = number & { readonly [unit]?: 'microseconds' }
/** Milliseconds, with a fraction where they come of microseconds. */
export type Millis = number & { readonly [unit]?: 'milliseconds' }
/** Seconds, with a fraction where they come of microseconds. */
export type Seconds = number & { readonly [unit]?: 'seconds' }

const PER_MILLI = 1000
const PER_SECOND = 1_000_000

let wallAtZero = 0

/** The wall clock. Its microseconds are the monotonic clock's, which starts again from the wall's millisecond when they part. */
export function nowMicros(): Micros {
  const wall = Date.now() * PER_MILLI
  const monotonic = Math.floor(monotonicMicros())
  const now = wallAtZero + monotonic
  if (now >= wall && now < wall + PER_MILLI) return now
  wallAtZero = wall - monotonic
  return wall
}

/** Of a clock that no one sets and that begins with the process; not whole. */
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

/** Not rounded. */
export function toSeconds(micros: Micros): Seconds {
  return micros / PER_SECOND
}

/** Not rounded. */
export function toMillis(micros: Micros): Millis {
  return micros / PER_MILLI
}

/** Beyond what a number holds. */
export function toNanos(at: Micros): bigint {
  return BigInt(at) * BigInt(PER_MILLI)
}

/** The fraction of a millisecond is cut. */
export function toDate(at: Micros): Date {
  return new Date(at / PER_MILLI)
}

/** `YYYY-MM-DDTHH:MM:SS+00:00`, the fraction cut, never rounded (docs/spec/monitoring.md#check-object). */
export function toIsoSeconds(at: Micros): string {
  return `${isoPrefix(at)}+00:00`
}

/** `YYYY-MM-DDTHH:MM:SS.fffZ`, as the risk API and events have it. */
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
