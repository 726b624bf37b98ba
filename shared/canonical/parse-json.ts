import { MAX_JSON_DEPTH } from './jcs.ts'
import { type Json, type JsonMembers, JsonParseError, JsonParser } from './json-parser.ts'

export type JsonValue = Json<never>
export type JsonObject = JsonMembers<never>

export interface ParseJsonOptions {
  /** Accepted levels of nesting; default and maximum 256, so that the result can be canonicalised. */
  maxDepth?: number
  /** includes nested ones; no limit by default */
  maxValues?: number
  /** Accepts U+0000 in strings and names. Default false, because PostgreSQL cannot store it. */
  allowNul?: boolean
}

/**
 * Stricter than JSON.parse, because the value will be hashed or stored (RFC 8259 with the restrictions of RFC 7493).
 * Duplicate names, lone surrogates, inexact numbers, `__proto__`, a byte-order mark and deep nesting are errors. `-0`
 * becomes 0. @throws JsonParseError
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

/** Bytes must be UTF-8. */
export function parseJsonBytes(bytes: Uint8Array, options: ParseJsonOptions = {}): JsonValue {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new JsonParseError('ENCODING', 'the body is not UTF-8', '', 0)
  }
  return parseJson(text, options)
}
