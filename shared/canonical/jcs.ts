import { CodedError } from '../errors.ts'

/** Limit of nesting. It bounds the recursion here and in the parser, and ends cycles. */
export const MAX_JSON_DEPTH = 256

/** The value has no canonical JSON form. `path` is the member, for example `a.b[2]`; empty for the value itself. */
export class CanonicalJsonError extends CodedError {
  readonly code = 'NOT_CANONICAL_JSON'
  readonly path: string
  constructor(message: string, path: string) {
    super(path === '' ? message : `${path}: ${message}`)
    this.path = path
  }
}

/**
 * Returns the canonical JSON (RFC 8785), whose UTF-8 bytes are hashed. Rejects undefined, class instances and cycles,
 * because a member that silently disappears changes a hash. @throws CanonicalJsonError
 */
export function canonicalize(value: unknown): string {
  return write(value, [])
}

function write(value: unknown, path: (string | number)[]): string {
  switch (typeof value) {
    case 'string':
      return writeString(value, path)
    case 'number':
      // RFC 8785 3.2.2.3: the shortest ECMAScript form; String gives "0" for negative zero.
      if (!Number.isFinite(value)) throw refuse('NaN and infinities have no JSON form', path)
      return String(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      if (path.length >= MAX_JSON_DEPTH) throw refuse(`nested deeper than ${MAX_JSON_DEPTH} levels`, path)
      return Array.isArray(value) ? writeArray(value, path) : writeObject(value, path)
    default:
      throw refuse(`a value of type ${typeof value} has no JSON form`, path)
  }
}

function writeString(value: string, path: (string | number)[]): string {
  if (!value.isWellFormed()) throw refuse('a lone surrogate cannot be encoded', path)
  // For well-formed text JSON.stringify escapes exactly the characters that RFC 8785 3.2.2.2 requires.
  return JSON.stringify(value)
}

function writeArray(value: readonly unknown[], path: (string | number)[]): string {
  if (Object.getPrototypeOf(value) !== Array.prototype) throw refuse('not a plain array', path)
  if (Reflect.ownKeys(value).length !== value.length + 1)
    throw refuse('a sparse array, or one with additional members', path)
  let text = '['
  for (let index = 0; index < value.length; index++) {
    if (!Object.hasOwn(value, index)) throw refuse('a sparse array', path)
    path.push(index)
    text += index === 0 ? write(value[index], path) : `,${write(value[index], path)}`
    path.pop()
  }
  return `${text}]`
}

function writeObject(value: object, path: (string | number)[]): string {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) throw refuse('not a plain object', path)
  const names: string[] = []
  for (const name of Reflect.ownKeys(value)) {
    if (typeof name === 'symbol') throw refuse('a symbol cannot name a member', path)
    names.push(name)
  }
  // The default order compares UTF-16 code units, which is what RFC 8785 3.2.3 prescribes.
  names.sort()
  let text = '{'
  for (const name of names) {
    path.push(name)
    const member = Object.getOwnPropertyDescriptor(value, name)
    if (!member?.enumerable || !('value' in member)) throw refuse('an accessor or hidden member', path)
    text += `${text === '{' ? '' : ','}${writeString(name, path)}:${write(member.value, path)}`
    path.pop()
  }
  return `${text}}`
}

function refuse(message: string, path: readonly (string | number)[]): CanonicalJsonError {
  return new CanonicalJsonError(message, formatJsonPath(path))
}

/** Formats a path as `a.b[2]`, cut at 200 characters because names may be attacker-controlled. */
export function formatJsonPath(path: readonly (string | number)[]): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else text += text === '' ? step : `.${step}`
    if (text.length > 200) return `${text.slice(0, 200).toWellFormed()}…`
  }
  return text.toWellFormed()
}
