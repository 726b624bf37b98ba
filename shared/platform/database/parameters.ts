import type { SqlValue } from './sql.ts'

type Element = Exclude<SqlValue, readonly unknown[]>

/** Faster than the driver, which quotes each number of an array. */
export function parameterOf(value: SqlValue): string | Buffer | null {
  if (Array.isArray(value)) return arrayOf(value)
  // Array.isArray does not narrow a readonly array.
  return scalarOf(value as Element)
}

function scalarOf(value: Element): string | Buffer | null {
  if (value === null || typeof value === 'string' || value instanceof Buffer) return value
  return value instanceof Date ? value.toISOString() : String(value)
}

/** Follows https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO. */
function arrayOf(values: readonly Element[]): string {
  if (values.length === 0) return '{}'
  let text = ''
  let last: Element | undefined
  let written = ''
  for (const value of values) {
    // Most columns of pings repeat the same value.
    if (value !== last || last === undefined) {
      last = value
      written = elementOf(value)
    }
    text += `,${written}`
  }
  return `{${text.slice(1)}}`
}

function elementOf(value: Element): string {
  if (value === null) return 'NULL'
  if (typeof value === 'number') return String(value)
  if (value instanceof Buffer) return `"\\\\x${value.toString('hex')}"`
  const text = String(scalarOf(value))
  return PLAIN.test(text) ? text : `"${text.replace(/[\\"]/g, '\\$&')}"`
}

const PLAIN = /^(?!null$)[0-9a-z][0-9a-z.:_-]*$/

/** A column without values becomes null, which `unnest` fills: encoding each null costs as much as a value. */
export function sparseColumn<T>(values: readonly (T | null)[]): readonly (T | null)[] | null {
  return values.every((value) => value === null) ? null : values
}
