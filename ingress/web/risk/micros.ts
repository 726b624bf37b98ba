import type { Micros } from '#shared/time.ts'

/** A date of the database as the pages' clock counts. */
export function microsOf(date: Date): Micros {
  return date.getTime() * 1_000
}
