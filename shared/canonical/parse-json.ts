import { MAX_JSON_DEPTH } from './jcs.ts'
import { type Json, type JsonMembers, JsonParseError, JsonParser } from './json-parser.ts'

/** A value of strict JSON. Objects are plain. */
export type JsonValue = Json<never>
export type JsonObject = JsonMembers<never>

export interface ParseJsonOptions {
  /** Accepted levels of nesting; default and maximum 256, so that the result can be canonicalised. */
  maxDepth?: number
  /** Values accepted, nested ones included. Default: no limit. */
  maxValues?: number
  /** Accepts U+0000 in strings and names. Default false, because PostgreSQL cannot store it. */
  allowNul?: boolean
}

/**
 * Parses JSON of clients that will be hashed or stored, stricter than JSON.parse (RFC 8259 with the
 * I-JSON restrictions of RFC 7493): duplicate names, lone surrogates, numbers beyond a double, integers that a double
 * changes (2^53+1, also as 9007199254740993.0), the name `__proto__`, a byte-order mark and deep nesting are errors. `-0` becomes 0.
 * @throws JsonParseError
 */
export function parseJson(text: string, options: ParseJsonOptions = {}): JsonValue {
  const maxDepth = Math.min(options.maxDepth ?? MAX_JSON_DEPTH, MAX_JSON_DEPTH)
  const { maxValues = Number.POSITIVE_INFINITY, allowNul = false } = options
  const parser = new JsonParser(text, { maxDepth, maxValues, allowNul })
  for (;;) {
    const value = parser.read(Number.POSITIVE_INFINITY)
    if (value !== undefined) return value
  }
}

/**
 * Parses bytes, which must be UTF-8.
 * @throws JsonParseError
 */
export function parseJsonBytes(bytes: Uint8Array, options: ParseJsonOptions = {}): JsonValue {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new JsonParseError('ENCODING', 'the body is not UTF-8', '', 0)
  }
  return parseJson(text, options)
}
