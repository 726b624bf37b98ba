export type Bounds = { readonly first: number; readonly last: number }

export function parseDigits(text: string): number | undefined {
  return /^[0-9]+$/.test(text) ? Number(text) : undefined
}

export function parseWithin(text: string, bounds: Bounds): number | undefined {
  const value = parseDigits(text)
  return value !== undefined && value >= bounds.first && value <= bounds.last ? value : undefined
}

export function span(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index)
}

/** A single member is extended to `top`, as in cron and OnCalendar. */
export function everyNth(members: readonly number[], step: number, top: number): number[] {
  const [only] = members
  const row = only !== undefined && members.length === 1 ? span(only, top) : members
  return row.filter((_, index) => index % step === 0)
}

export function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)]
}

export function sorted(members: Iterable<number>): number[] {
  return [...new Set(members)].sort((a, b) => a - b)
}
