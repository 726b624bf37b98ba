import { CodedError } from '../errors.ts'
import { isChangedInteger } from './exact-integer.ts'
import { formatJsonPath } from './jcs.ts'

/** Reason why a text is refused; stable, because field errors of responses contain it. */
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

/** `offset` counts UTF-16 units; `path` is for example `a.b[2]`. */
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

export type Json<Wrapped> = null | boolean | number | string | Wrapped | Json<Wrapped>[] | JsonMembers<Wrapped>
export interface JsonMembers<Wrapped> {
  [name: string]: Json<Wrapped>
}

interface ParserOptions<Wrapped> {
  maxDepth: number
  maxValues: number
  allowNul?: boolean
  /**
   * Selects the lenient dialect of the management API: it accepts `NaN` and `Infinity`, the last of equal names wins,
   * and objects have no prototype. Wraps numbers with a fraction, an exponent or no finite value.
   */
  wrapNumber?: (value: number) => Wrapped
}

interface Open<Wrapped> {
  container: Json<Wrapped>[] | JsonMembers<Wrapped>
  key: string | number | null
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y
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
/** Strings with these need the slow path: escapes, control characters, halves of surrogate pairs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 8259 section 7 forbids them unescaped
const SPECIAL = /[\\\u0000-\u001f\ud800-\udfff]/
const QUOTE = 0x22
const BACKSLASH = 0x5c
const WORDS: readonly (readonly [string, null | boolean])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
]
const LENIENT_WORDS: readonly (readonly [string, number])[] = [
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
]
const MAX_WORD_LENGTH = '-Infinity'.length

/** Works without recursion, so that a long text can be parsed in steps. Strict by default: RFC 8259 and RFC 7493. */
export class JsonParser<Wrapped = never> {
  readonly #text: string
  readonly #maxDepth: number
  readonly #allowNul: boolean
  readonly #wrapNumber: ((value: number) => Wrapped) | undefined
  #valuesLeft: number
  readonly #open: Open<Wrapped>[] = []
  #at = 0
  #isCutString = false
  #root: JsonMembers<Wrapped> | null = null
  #result: Json<Wrapped> | undefined

  constructor(text: string, { maxDepth, maxValues, allowNul = false, wrapNumber }: ParserOptions<Wrapped>) {
    this.#text = text
    this.#maxDepth = maxDepth
    this.#valuesLeft = maxValues
    this.#allowNul = allowNul
    this.#wrapNumber = wrapNumber
  }

  /** Reads at most `count` values. @returns the document after its last value, undefined before */
  read(count: number): Json<Wrapped> | undefined {
    for (let left = count; left > 0 && this.#result === undefined; left--) {
      this.#space()
      this.#value()
    }
    return this.#result
  }

  get root(): JsonMembers<Wrapped> | null {
    return this.#root
  }

  /** Returns true if the last error may be due only to a truncated text. */
  isCut(): boolean {
    return this.#isCutString || this.#text.length - this.#at < MAX_WORD_LENGTH
  }

  #value(): void {
    if (this.#valuesLeft-- <= 0) throw this.#fault('TOO_MANY_VALUES', 'more values than are accepted')
    const first = this.#text[this.#at]
    const isContainer = first === '{' || first === '['
    const depth = this.#open.length
    // The lenient dialect also accepts an empty container inside the deepest one.
    if (this.#wrapNumber ? depth > this.#maxDepth : isContainer && depth >= this.#maxDepth)
      throw this.#fault('TOO_DEEP', `nested deeper than ${this.#maxDepth} levels`)
    if (!isContainer) this.#complete(first === '"' ? this.#string() : this.#scalar())
    else if (first === '{') this.#beginObject()
    else this.#beginArray()
  }

  #beginObject(): void {
    this.#at++
    const object: JsonMembers<Wrapped> = this.#wrapNumber ? Object.create(null) : {}
    if (this.#open.length === 0) this.#root = object
    if (this.#take('}')) {
      this.#complete(object)
      return
    }
    const open: Open<Wrapped> = { container: object, key: null }
    this.#open.push(open)
    this.#memberName(open)
  }

  #beginArray(): void {
    this.#at++
    if (this.#take(']')) this.#complete([])
    else this.#open.push({ container: [], key: 0 })
  }

  /** Adds a value to its container, closes containers that end after it, and moves to the next value. */
  #complete(value: Json<Wrapped>): void {
    let complete = value
    for (let open = this.#open.at(-1); open !== undefined; open = this.#open.at(-1)) {
      const { container } = open
      const isArray = Array.isArray(container)
      if (isArray) container.push(complete)
      else container[String(open.key)] = complete
      open.key = null
      if (this.#take(',')) {
        if (isArray) open.key = container.length
        else this.#memberName(open)
        return
      }
      if (!this.#take(isArray ? ']' : '}'))
        throw this.#fault('SYNTAX', `expected a comma or the end of the ${isArray ? 'array' : 'object'}`)
      this.#open.pop()
      complete = container
    }
    this.#space()
    if (this.#at < this.#text.length) throw this.#fault('SYNTAX', 'text after the value')
    this.#result = complete
  }

  #memberName(open: Open<Wrapped>): void {
    this.#space()
    if (this.#text[this.#at] !== '"') throw this.#fault('SYNTAX', 'expected a member name')
    const start = this.#at
    const name = this.#string()
    open.key = name
    if (!this.#wrapNumber) {
      // Assigning to it would change the prototype.
      if (name === '__proto__') throw this.#fault('FORBIDDEN_NAME', 'this member name is not accepted', start)
      if (Object.hasOwn(open.container, name)) throw this.#fault('DUPLICATE_NAME', 'this member appears twice', start)
    }
    if (!this.#take(':')) throw this.#fault('SYNTAX', 'expected a colon')
  }

  #string(): string {
    const start = this.#at + 1
    const quote = this.#text.indexOf('"', start)
    const plain = this.#text.slice(start, quote)
    if (quote !== -1 && !SPECIAL.test(plain)) {
      this.#at = quote + 1
      return plain
    }
    let text = ''
    let from = start
    let at = start
    for (;;) {
      const code = this.#text.charCodeAt(at)
      if (code === QUOTE) break
      if (code === BACKSLASH) {
        text += this.#text.slice(from, at) + this.#escape(at)
        at += this.#text[at + 1] === 'u' ? 6 : 2
        from = at
      } else if (code >= 0x20) at++
      else throw this.#stringFault('an unfinished string or a bare control character', at)
    }
    text += this.#text.slice(from, at)
    this.#at = at + 1
    if (this.#wrapNumber) return text
    if (!text.isWellFormed()) throw this.#fault('LONE_SURROGATE', 'a lone surrogate is not text', start)
    if (!this.#allowNul && text.includes('\u0000')) throw this.#fault('NUL_CHARACTER', 'U+0000 is not accepted', start)
    return text
  }

  #escape(at: number): string {
    const kind = this.#text[at + 1] ?? ''
    if (kind === 'u') {
      const digits = this.#text.slice(at + 2, at + 6)
      if (!FOUR_HEX.test(digits)) throw this.#stringFault('a malformed \\u escape', at)
      return String.fromCharCode(Number.parseInt(digits, 16))
    }
    const character = Object.hasOwn(ESCAPES, kind) ? ESCAPES[kind] : undefined
    if (character === undefined) throw this.#stringFault('an unknown escape', at)
    return character
  }

  #stringFault(message: string, offset: number): JsonParseError {
    let end = this.#at + 1
    while (end < this.#text.length && this.#text[end] !== '"') end += this.#text[end] === '\\' ? 2 : 1
    this.#isCutString = end >= this.#text.length
    return this.#fault('SYNTAX', message, offset)
  }

  #scalar(): null | boolean | number | Wrapped {
    for (const [word, value] of WORDS) if (this.#takeWord(word)) return value
    const wrap = this.#wrapNumber
    if (wrap) for (const [word, value] of LENIENT_WORDS) if (this.#takeWord(word)) return wrap(value)
    NUMBER.lastIndex = this.#at
    const match = NUMBER.exec(this.#text)
    if (match === null) throw this.#fault('SYNTAX', 'expected a value')
    const [literal, fraction, exponent] = match
    const value = Number(literal)
    if (!wrap) {
      if (!Number.isFinite(value)) throw this.#fault('NUMBER_OUT_OF_RANGE', 'a number beyond the range of a double')
      if (!Number.isSafeInteger(value) && isChangedInteger(literal, value))
        throw this.#fault('NUMBER_NOT_EXACT', 'an integer that a double cannot hold')
    }
    this.#at += literal.length
    if (wrap && (fraction !== undefined || exponent !== undefined)) return wrap(value)
    return value === 0 ? 0 : value
  }

  #takeWord(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false
    this.#at += word.length
    return true
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
    const path = this.#open.flatMap(({ key }) => (key === null ? [] : [key]))
    return new JsonParseError(fault, message, formatJsonPath(path), offset)
  }
}
