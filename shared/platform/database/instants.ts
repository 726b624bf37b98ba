/** Instants as microseconds: text would have to be parsed, and a Date would lose digits. */
export function microsOf(column: string): string {
  return `(extract(epoch FROM ${column}) * 1000000)::bigint`
}

/** The reverse, for a parameter of type bigint. */
export function timestampOf(parameter: string): string {
  return `('epoch'::timestamptz + ${parameter} * interval '1 microsecond')`
}
