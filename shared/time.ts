/**
 * Instants of the monitoring side: whole microseconds since the Unix epoch, the resolution of PostgreSQL's
 * timestamptz. A number holds them exactly until the year 2255.
 */
export type Micros = number

export const MICROS_PER_SECOND = 1_000_000

let wallAtZero = 0

/** The wall clock. Its microseconds are the monotonic clock's, which starts again from the wall's millisecond when they part. */
export function nowMicros(): Micros {
  const wall = Date.now() * 1000
  const monotonic = Math.floor(performance.now() * 1000)
  const now = wallAtZero + monotonic
  if (now >= wall && now < wall + 1000) return now
  wallAtZero = wall - monotonic
  return wall
}

/** `YYYY-MM-DDTHH:MM:SS+00:00`, the fraction cut, never rounded (monitoring behaviour 5.6). */
export function toIsoSeconds(at: Micros): string {
  return `${isoPrefix(at)}+00:00`
}

/** `YYYY-MM-DDTHH:MM:SS.ffffff+00:00`, always six digits (monitoring behaviour section 0, row 4). */
export function toIsoMicros(at: Micros): string {
  const fraction = ((at % MICROS_PER_SECOND) + MICROS_PER_SECOND) % MICROS_PER_SECOND
  return `${isoPrefix(at)}.${String(fraction).padStart(6, '0')}+00:00`
}

function isoPrefix(at: Micros): string {
  return new Date(Math.floor(at / MICROS_PER_SECOND) * 1000).toISOString().slice(0, 19)
}
