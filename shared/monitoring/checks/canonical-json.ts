import { type JsonValue, NonIntegerNumber } from './json-body.ts'

/** Converts a parsed body to plain JSON: its objects have no prototype, and it marks numbers that are not integers. */
export function canonicalJson(value: JsonValue): unknown {
  return JSON.parse(JSON.stringify(value, (_, member) => (member instanceof NonIntegerNumber ? member.value : member)))
}
