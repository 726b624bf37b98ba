/**
 * A number with a fraction or exponent, or a number that is not finite. `3600.0` is one, although it equals an integer.
 */
export class NonIntegerNumber {
  readonly value: number
  constructor(value: number) {
    this.value = value
  }
}

/** A parsed body. Integers beyond 2^53 are rounded. Objects have no prototype, so any name is safe. */
export type JsonValue = null | boolean | number | string | NonIntegerNumber | JsonValue[] | JsonObject
export interface JsonObject {
  [name: string]: JsonValue
}

export type JsonBody = { ok: true; body: JsonObject } | { ok: false; error: string }

/** Limit of nesting, which no valid request reaches, far below the limit of the stack. */
const MAX_DEPTH = 100

/**
 * Parses a request body of the management API (docs/spec/monitoring.md#authentication): UTF-8 without a byte order mark,
 * of any content type. An empty body is `{}`. Also accepts `NaN` and `Infinity`. The last of repeated names wins.
 */
export function parseJsonBody(raw: Uint8Array, limits: ParseLimits = {}): JsonBody {
  const parsing = parseInSteps(raw, limits)
  for (;;) {
    const step = parsing.next()
    if (step.done) return step.value
  }
}

export interface ParseLimits {
  /** default: no limit */
  maxValues?: number
  /** true if `raw` is only the beginning of a body; then the complete members are returned */
  isBeginning?: boolean
}

export const VALUES_PER_STEP = 2_000

/**
 * Parses like `parseJsonBody`, but yields after `VALUES_PER_STEP` values, so that the caller can release the event
 * loop.
 */
export function* parseInSteps(
  raw: Uint8Array,
  { maxValues = Number.POSITIVE_INFINITY, isBeginning = false }: ParseLimits = {},
): Generator<undefined, JsonBody> {
  if (raw.length === 0) return { ok: true, body: emptyObject() }
  const text = decodeUtf8(raw, isBeginning)
  if (text === null) return UNPARSABLE
  const parser = new Parser(text, maxValues)
  try {
    const value = yield* parser.document()
    return isJsonObject(value) ? { ok: true, body: value } : NO_OBJECT
  } catch (error) {
    if (error instanceof TooManyValues) {
      return { ok: false, error: `json validation error: the body has more than ${maxValues} values` }
    }
    if (!(error instanceof SyntaxError)) throw error
    if (!isBeginning || !parser.isAtEnd()) return UNPARSABLE
    return /^[ \t\n\r]*[^{ \t\n\r]/.test(text) ? NO_OBJECT : { ok: true, body: parser.root }
  }
}

const UNPARSABLE: JsonBody = { ok: false, error: 'could not parse request body' }
const NO_OBJECT: JsonBody = { ok: false, error: 'json validation error: value is not an object' }

class TooManyValues extends Error {}

function decodeUtf8(raw: Uint8Array, isBeginning: boolean): string | null {
  try {
    // The last character of a beginning may be incomplete.
    if (isBeginning) return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw, { stream: true })
    return decoder.decode(raw)
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

type Steps<T> = Generator<undefined, T>

/** JSON.parse cannot distinguish `3600.0` from `3600`, and refuses NaN. */
class Parser {
  readonly #text: string
  readonly #maxValues: number
  #at = 0
  #values = 0
  #isInString = false
  /** the outermost object with the members read until now */
  readonly root = emptyObject()

  constructor(text: string, maxValues: number) {
    this.#text = text
    this.#maxValues = maxValues
  }

  /** Returns true if a syntax error may only mean that the text is incomplete. */
  isAtEnd(): boolean {
    return this.#isInString || this.#text.length - this.#at < MAX_WORD_LENGTH
  }

  *document(): Steps<JsonValue> {
    this.#skipSpace()
    const value = yield* this.#value(0)
    this.#skipSpace()
    if (this.#at < this.#text.length) throw new SyntaxError('text after the value')
    return value
  }

  *#value(depth: number): Steps<JsonValue> {
    if (depth > MAX_DEPTH) throw new SyntaxError('nested too deeply')
    this.#values += 1
    if (this.#values > this.#maxValues) throw new TooManyValues()
    if (this.#values % VALUES_PER_STEP === 0) yield
    const char = this.#text[this.#at]
    if (char === '{') return yield* this.#object(depth)
    if (char === '[') return yield* this.#array(depth)
    if (char === '"') return this.#string()
    for (const [word, value] of WORDS) {
      if (!this.#text.startsWith(word, this.#at)) continue
      this.#at += word.length
      return value
    }
    return this.#number()
  }

  *#object(depth: number): Steps<JsonObject> {
    const object = depth === 0 ? this.root : emptyObject()
    this.#at += 1
    this.#skipSpace()
    if (this.#take('}')) return object
    do {
      this.#skipSpace()
      if (this.#text[this.#at] !== '"') throw new SyntaxError('a name is expected')
      const name = this.#string()
      this.#skipSpace()
      if (!this.#take(':')) throw new SyntaxError('a colon is expected')
      this.#skipSpace()
      object[name] = yield* this.#value(depth + 1)
      this.#skipSpace()
    } while (this.#take(','))
    if (!this.#take('}')) throw new SyntaxError('the object does not end')
    return object
  }

  *#array(depth: number): Steps<JsonValue[]> {
    const array: JsonValue[] = []
    this.#at += 1
    this.#skipSpace()
    if (this.#take(']')) return array
    do {
      this.#skipSpace()
      array.push(yield* this.#value(depth + 1))
      this.#skipSpace()
    } while (this.#take(','))
    if (!this.#take(']')) throw new SyntaxError('the array does not end')
    return array
  }

  /** Finds the closing quote; JSON.parse decodes escapes and refuses invalid characters. */
  #string(): string {
    let end = this.#at + 1
    while (this.#text[end] !== '"') {
      if (end >= this.#text.length) {
        this.#isInString = true
        throw new SyntaxError('the string does not end')
      }
      end += this.#text[end] === '\\' ? 2 : 1
    }
    const value: string = JSON.parse(this.#text.slice(this.#at, end + 1))
    this.#at = end + 1
    return value
  }

  #number(): JsonValue {
    NUMBER.lastIndex = this.#at
    const match = NUMBER.exec(this.#text)
    if (!match) throw new SyntaxError('a value is expected')
    const [token, fraction, exponent] = match
    this.#at += token.length
    const value = Number(token)
    return fraction === undefined && exponent === undefined ? value : new NonIntegerNumber(value)
  }

  #take(char: string): boolean {
    if (this.#text[this.#at] !== char) return false
    this.#at += 1
    return true
  }

  #skipSpace(): void {
    while (SPACE.has(this.#text[this.#at] ?? '')) this.#at += 1
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y
const SPACE = new Set([' ', '\t', '\n', '\r'])
const MAX_WORD_LENGTH = '-Infinity'.length
const WORDS: readonly (readonly [string, JsonValue])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
  ['NaN', new NonIntegerNumber(Number.NaN)],
  ['Infinity', new NonIntegerNumber(Number.POSITIVE_INFINITY)],
  ['-Infinity', new NonIntegerNumber(Number.NEGATIVE_INFINITY)],
]
