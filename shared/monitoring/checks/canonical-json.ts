import { type JsonValue, NonIntegerNumber } from './json-body.ts'

/** A parsed body has objects without prototype, and wraps numbers that are not integers. */
export function canonicalJson(value: JsonValue): unknown {
  return JSON.parse(JSON.stringify(value, (_, member) => (member instanceof NonIntegerNumber ? member.value : member)))
}
