/** Returns a timestamp in microseconds: text would need parsing, and a Date would lose precision. */
export function microsOf(column: string): string {
  return `(extract(epoch FROM ${column}) * 1000000)::bigint`
}

export function timestampOf(parameter: string): string {
  return `('epoch'::timestamptz + ${parameter} * interval '1 microsecond')`
}
