import { type Json, type JsonMembers, JsonParseError, JsonParser } from '../../canonical/json-parser.ts'

/** A number token with a fraction, an exponent, or no finite value; `3600.0` is one, though it equals an integer. */
export class NonIntegerNumber {
  readonly value: number
  constructor(value: number) {
    this.value = value
  }
}

/** A parsed body. Integers are numbers (beyond 2^53 rounded); objects have no prototype, so any name is safe. */
export type JsonValue = Json<NonIntegerNumber>
export type JsonObject = JsonMembers<NonIntegerNumber>

export type JsonBody = { ok: true; body: JsonObject } | { ok: false; error: string }

/** Deeper nesting than any request needs. */
const MAX_DEPTH = 100

/** Any content type; an empty body is `{}` (docs/spec/monitoring.md#authentication). */
export function parseJsonBody(raw: Uint8Array, limits: ParseLimits = {}): JsonBody {
  const parsing = parseInSteps(raw, limits)
  for (;;) {
    const step = parsing.next()
    if (step.done) return step.value
  }
}

export interface ParseLimits {
  maxValues?: number
  /** for the first bytes of a longer body: returns its complete members */
  isBeginning?: boolean
}

export const VALUES_PER_STEP = 2_000

/** Yields after every `VALUES_PER_STEP` values. */
export function* parseInSteps(
  raw: Uint8Array,
  { maxValues = Number.POSITIVE_INFINITY, isBeginning = false }: ParseLimits = {},
): Generator<undefined, JsonBody> {
  if (raw.length === 0) return { ok: true, body: emptyObject() }
  const text = decodeUtf8(raw, isBeginning)
  if (text === null) return UNPARSABLE
  const wrapNumber = (value: number) => new NonIntegerNumber(value)
  const parser = new JsonParser(text, { maxDepth: MAX_DEPTH, maxValues, wrapNumber })
  try {
    for (;;) {
      const value = parser.read(VALUES_PER_STEP)
      if (value !== undefined) return isJsonObject(value) ? { ok: true, body: value } : NO_OBJECT
      yield
    }
  } catch (error) {
    if (!(error instanceof JsonParseError)) throw error
    if (error.fault === 'TOO_MANY_VALUES')
      return { ok: false, error: `json validation error: the body has more than ${maxValues} values` }
    if (!isBeginning || !parser.isCut()) return UNPARSABLE
    return /^[ \t\n\r]*[^{ \t\n\r]/.test(text) ? NO_OBJECT : { ok: true, body: parser.root ?? emptyObject() }
  }
}

const UNPARSABLE: JsonBody = { ok: false, error: 'could not parse request body' }
const NO_OBJECT: JsonBody = { ok: false, error: 'json validation error: value is not an object' }

function decodeUtf8(raw: Uint8Array, isBeginning: boolean): string | null {
  try {
    // The last character of a beginning may be incomplete.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw, { stream: isBeginning })
  } catch {
    return null
  }
}

function isJsonObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NonIntegerNumber)
}

function emptyObject(): JsonObject {
  return Object.create(null)
}
