import { type JsonValue, NonIntegerNumber } from './json-body.ts'

/** Ordinary JSON: the body parser's objects have no prototype, and it marks numbers that are no integers. */
export function canonicalJson(value: JsonValue): unknown {
  return JSON.parse(JSON.stringify(value, (_, member) => (member instanceof NonIntegerNumber ? member.value : member)))
}
