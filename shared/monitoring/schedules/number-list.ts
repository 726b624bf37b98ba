/** Where the numbers of one schedule field must lie, both ends included. */
export type Bounds = { readonly first: number; readonly last: number }

/** ASCII digits only, leading zeros allowed; undefined for anything else. */
export function parseDigits(text: string): number | undefined {
  return /^[0-9]+$/.test(text) ? Number(text) : undefined
}

/** A number of digits within bounds; undefined for anything else. */
export function parseWithin(text: string, bounds: Bounds): number | undefined {
  const value = parseDigits(text)
  return value !== undefined && value >= bounds.first && value <= bounds.last ? value : undefined
}

/** Every number from first to last; empty when last is below first. */
export function span(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index)
}

/**
 * What `/step` leaves of ascending members: every step-th beginning with the first. A single member counts on to `top`
 * instead, as both cron and OnCalendar have it.
 */
export function everyNth(members: readonly number[], step: number, top: number): number[] {
  const [only] = members
  const row = only !== undefined && members.length === 1 ? span(only, top) : members
  return row.filter((_, index) => index % step === 0)
}

/** Splits at the first occurrence of a mark; the second part is undefined when there is none. */
export function splitOnce(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + mark.length)]
}

/** Ascending, without repetitions. */
export function sorted(members: Iterable<number>): number[] {
  return [...new Set(members)].sort((a, b) => a - b)
}
