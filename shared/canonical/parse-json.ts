import { CodedError } from '../errors.ts'
import { formatJsonPath, MAX_JSON_DEPTH } from './jcs.ts'

/** What is wrong with the text; stable, for the answer's field error. */
export type JsonError =
  | 'SYNTAX'
  | 'ENCODING'
  | 'DUPLICATE_NAME'
  | 'FORBIDDEN_NAME'
  | 'TOO_DEEP'
  | 'TOO_MANY_VALUES'
  | 'LONE_SURROGATE'
  | 'NUL_CHARACTER'
  | 'NUMBER_OUT_OF_RANGE'
  | 'NUMBER_NOT_EXACT'

/** The text is not JSON that means the same to everybody. `offset` counts UTF-16 units; `path` is as in `a.b[2]`. */
export class JsonParseError extends CodedError {
  readonly code = 'INVALID_JSON'
  readonly fault: JsonError
  readonly path: string
  readonly offset: number
  constructor(fault: JsonError, message: string, path: string, offset: number) {
    super(`${path === '' ? '' : `${path}: `}${message} (at character ${offset})`)
    this.fault = fault
    this.path = path
    this.offset = offset
  }
}

/** A value as JSON has it. Objects are plain ones whose members are all their own. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject
export interface JsonObject {
  [name: string]: JsonValue
}

export interface ParseJsonOptions {
  /** Levels of nesting accepted, at most and by default 256, so that what was parsed can be canonicalised. */
  maxDepth?: number
  /** Values accepted, those inside of others included. Default: as many as the text holds. */
  maxValues?: number
  /** Accept U+0000 in strings and names. Default false: PostgreSQL cannot store it. */
  allowNul?: boolean
}

/**
 * Parses attacker-controlled JSON that will be hashed or stored, stricter than JSON.parse (RFC 8259 with the
 * I-JSON restrictions of RFC 7493): duplicate names, lone surrogates, numbers beyond a double, integers that a double
 * changes (2^53+1, also as 9007199254740993.0), the name `__proto__`, a byte-order mark and deep nesting are errors. `-0` becomes 0.
 * @throws JsonParseError
 */
export function parseJson(text: string, options: ParseJsonOptions = {}): JsonValue {
  const maxDepth = Math.min(options.maxDepth ?? MAX_JSON_DEPTH, MAX_JSON_DEPTH)
  return new Parser(text, maxDepth, options.maxValues ?? Number.POSITIVE_INFINITY, options.allowNul ?? false).parse()
}

/**
 * The same for bytes, which must be UTF-8.
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

const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y
/**
 * Returns true if a number is an integer, in any spelling, that its double changes. The shortest digits of a double are
 * accepted, so that our own output (`1e+30`) can be read again.
 * @param value finite, so an integer has at most 309 digits
 */
function isChangedInteger(literal: string, value: number): boolean {
  const written = integerOf(literal)
  if (written === null) return false
  const shortest = integerOf(String(value))
  if (written.digits === shortest?.digits && written.zeros === shortest.zeros) return false
  return BigInt(written.digits + '0'.repeat(written.zeros)) !== BigInt(Math.abs(value))
}

/** The digits of an integer without its sign and the zeros at its ends; null for a fraction and for zero. */
function integerOf(literal: string): { digits: string; zeros: number } | null {
  const [mantissa = '', exponent = '0'] = literal.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.')
  const all = (whole + fraction).replace(/^0+/, '')
  let length = all.length
  while (length > 0 && all[length - 1] === '0') length -= 1
  const zeros = Number(exponent) - fraction.length + (all.length - length)
  return length === 0 || zeros < 0 ? null : { digits: all.slice(0, length), zeros }
}

const FOUR_HEX = /^[0-9a-fA-F]{4}$/
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}
/** What sends a string to the careful path: escapes, control characters, any half of a surrogate pair. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 8259 section 7 forbids them bare, so they are looked for
const SPECIAL = /[\\\u0000-\u001f\ud800-\udfff]/
const QUOTE = 0x22
const BACKSLASH = 0x5c

class Parser {
  readonly #text: string
  readonly #maxDepth: number
  readonly #allowNul: boolean
  #valuesLeft: number
  readonly #path: (string | number)[] = []
  #at = 0

  constructor(text: string, maxDepth: number, maxValues: number, allowNul: boolean) {
    this.#text = text
    this.#maxDepth = maxDepth
    this.#valuesLeft = maxValues
    this.#allowNul = allowNul
  }

  parse(): JsonValue {
    this.#space()
    const value = this.#value()
    this.#space()
    if (this.#at < this.#text.length) throw this.#fault('SYNTAX', 'text after the value')
    return value
  }

  #value(): JsonValue {
    if (this.#valuesLeft-- <= 0) throw this.#fault('TOO_MANY_VALUES', 'more values than are accepted')
    const first = this.#text[this.#at]
    switch (first) {
      case '{':
        return this.#object()
      case '[':
        return this.#array()
      case '"':
        return this.#string()
      case 't':
        return this.#word('true', true)
      case 'f':
        return this.#word('false', false)
      case 'n':
        return this.#word('null', null)
      default:
        return this.#number()
    }
  }

  #object(): JsonObject {
    const object: JsonObject = {}
    this.#enter()
    if (this.#take('}')) return object
    do {
      this.#space()
      if (this.#text[this.#at] !== '"') throw this.#fault('SYNTAX', 'expected a member name')
      const start = this.#at
      const name = this.#string()
      this.#path.push(name)
      // Assigning to it would change the prototype; nobody sends it in good faith.
      if (name === '__proto__') throw this.#fault('FORBIDDEN_NAME', 'this member name is not accepted', start)
      if (Object.hasOwn(object, name)) throw this.#fault('DUPLICATE_NAME', 'this member appears twice', start)
      if (!this.#take(':')) throw this.#fault('SYNTAX', 'expected a colon')
      this.#space()
      object[name] = this.#value()
      this.#path.pop()
    } while (this.#take(','))
    if (!this.#take('}')) throw this.#fault('SYNTAX', 'expected a comma or the end of the object')
    return object
  }

  #array(): JsonValue[] {
    const array: JsonValue[] = []
    this.#enter()
    if (this.#take(']')) return array
    do {
      this.#space()
      this.#path.push(array.length)
      array.push(this.#value())
      this.#path.pop()
    } while (this.#take(','))
    if (!this.#take(']')) throw this.#fault('SYNTAX', 'expected a comma or the end of the array')
    return array
  }

  /** Steps over the bracket; the path is as long as the number of brackets still open before it. */
  #enter(): void {
    if (this.#path.length >= this.#maxDepth)
      throw this.#fault('TOO_DEEP', `nested deeper than ${this.#maxDepth} levels`)
    this.#at++
  }

  #string(): string {
    const start = ++this.#at
    const quote = this.#text.indexOf('"', start)
    const plain = this.#text.slice(start, quote)
    if (quote !== -1 && !SPECIAL.test(plain)) {
      this.#at = quote + 1
      return plain
    }
    let text = ''
    let from = start
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code === QUOTE) break
      if (code === BACKSLASH) {
        text += this.#text.slice(from, this.#at) + this.#escape()
        from = this.#at
      } else if (code >= 0x20) this.#at++
      else throw this.#fault('SYNTAX', 'an unfinished string or a bare control character')
    }
    text += this.#text.slice(from, this.#at)
    this.#at++
    if (!text.isWellFormed()) throw this.#fault('LONE_SURROGATE', 'a lone surrogate is not text', start)
    if (!this.#allowNul && text.includes('\u0000')) throw this.#fault('NUL_CHARACTER', 'U+0000 is not accepted', start)
    return text
  }

  #escape(): string {
    const kind = this.#text[this.#at + 1] ?? ''
    if (kind === 'u') {
      const digits = this.#text.slice(this.#at + 2, this.#at + 6)
      if (!FOUR_HEX.test(digits)) throw this.#fault('SYNTAX', 'a malformed \\u escape')
      this.#at += 6
      return String.fromCharCode(Number.parseInt(digits, 16))
    }
    const character = Object.hasOwn(ESCAPES, kind) ? ESCAPES[kind] : undefined
    if (character === undefined) throw this.#fault('SYNTAX', 'an unknown escape')
    this.#at += 2
    return character
  }

  #number(): number {
    NUMBER.lastIndex = this.#at
    const match = NUMBER.exec(this.#text)
    if (match === null) throw this.#fault('SYNTAX', 'expected a value')
    const literal = match[0]
    const value = Number(literal)
    if (!Number.isFinite(value)) throw this.#fault('NUMBER_OUT_OF_RANGE', 'a number beyond the range of a double')
    if (!Number.isSafeInteger(value) && isChangedInteger(literal, value))
      throw this.#fault('NUMBER_NOT_EXACT', 'an integer that a double cannot hold')
    this.#at += literal.length
    return value === 0 ? 0 : value
  }

  #word<T extends JsonValue>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) throw this.#fault('SYNTAX', 'expected a value')
    this.#at += word.length
    return value
  }

  #take(character: string): boolean {
    this.#space()
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  #space(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      this.#at++
    }
  }

  #fault(fault: JsonError, message: string, offset = this.#at): JsonParseError {
    return new JsonParseError(fault, message, formatJsonPath(this.#path), offset)
  }
}
