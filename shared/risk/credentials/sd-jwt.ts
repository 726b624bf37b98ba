import { hash } from 'node:crypto'
import type { JsonObject, JsonValue } from '../../canonical/parse-json.ts'
import { objectOf, readJsonPart, readJwt, type UnverifiedJwt } from './jwt.ts'

export type ClaimPath = readonly (string | number)[]

export interface PresentedSdJwt {
  issuerJwt: UnverifiedJwt
  disclosures: readonly string[]
  keyBinding: UnverifiedJwt | null
  /** input of `sd_hash`: everything before the key binding, with the last tilde */
  bound: string
}

const MAX_DISCLOSURES = 300
const HASHES: Readonly<Record<string, string>> = { 'sha-256': 'sha256', 'sha-384': 'sha384', 'sha-512': 'sha512' }
/** Claims that an issuer must not make disclosable (SD-JWT VC 3.2.2.2). */
const NEVER_DISCLOSED = new Set(['iss', 'nbf', 'exp', 'cnf', 'vct', 'vct#integrity', 'status'])

/** `<issuer JWT>~<disclosure>~…~[<key binding JWT>]` */
export function readSdJwt(text: string): PresentedSdJwt | null {
  const parts = text.split('~')
  if (parts.length < 2 || parts.length > MAX_DISCLOSURES + 2) return null
  const issuerJwt = readJwt(parts[0] ?? '')
  const last = parts.at(-1) ?? ''
  const keyBinding = last === '' ? null : readJwt(last)
  if (issuerJwt?.header.typ !== 'dc+sd-jwt' || (last !== '' && !keyBinding)) return null
  const disclosures = parts.slice(1, -1)
  return { issuerJwt, disclosures, keyBinding, bound: text.slice(0, text.length - last.length) }
}

/** Hashes only the issuer's JWT, so that disclosures do not change the digest. */
export function credentialDigest(text: string): Buffer {
  return hash('sha256', text.split('~', 1)[0] ?? '', 'buffer')
}

/** Returns null for an unknown algorithm. */
export function sdHashOf({ payload }: UnverifiedJwt): string | null {
  const { _sd_alg: name = 'sha-256' } = payload
  return typeof name === 'string' ? (HASHES[name] ?? null) : null
}

export interface DisclosedClaims {
  claims: JsonObject
  disclosed: ClaimPath[]
}

const NO_NAMES = new Set(['_sd', '_sd_alg', '...', '__proto__'])

interface Disclosure {
  name: string | null
  value: JsonValue
}

/** Returns the disclosed claims; null unless each disclosure matches exactly one digest (RFC 9901 section 7.1). */
export function disclose(presented: PresentedSdJwt): DisclosedClaims | null {
  const algorithm = sdHashOf(presented.issuerJwt)
  if (algorithm === null) return null
  const known = new Map<string, Disclosure>()
  for (const text of presented.disclosures) {
    const disclosure = readDisclosure(text)
    const digest = hash(algorithm, text, 'base64url')
    if (!disclosure || known.has(digest)) return null
    known.set(digest, disclosure)
  }
  const walk: Walk = { known, seen: new Set(), used: new Set(), disclosed: [] }
  const claims = decodeObject(presented.issuerJwt.payload, [], walk)
  if (!claims || walk.used.size !== known.size) return null
  const { _sd_alg: _algorithm, ...rest } = claims
  return { claims: rest, disclosed: walk.disclosed }
}

function readDisclosure(text: string): Disclosure | null {
  const parts = readJsonPart(text)
  if (!Array.isArray(parts) || typeof parts[0] !== 'string') return null
  if (parts.length === 2) return { name: null, value: parts[1] ?? null }
  const [, name, value = null] = parts
  if (parts.length !== 3 || typeof name !== 'string' || NO_NAMES.has(name)) return null
  return { name, value }
}

interface Walk {
  known: ReadonlyMap<string, Disclosure>
  /** digests so far; a digest that occurs twice is invalid */
  seen: Set<string>
  used: Set<string>
  disclosed: ClaimPath[]
}

function findDisclosure(digest: JsonValue | undefined, walk: Walk): Disclosure | null | 'invalid' {
  if (typeof digest !== 'string' || walk.seen.has(digest)) return 'invalid'
  walk.seen.add(digest)
  const disclosure = walk.known.get(digest)
  if (!disclosure) return null
  walk.used.add(digest)
  return disclosure
}

function decodeValue(value: JsonValue, path: ClaimPath, walk: Walk): JsonValue | undefined {
  if (Array.isArray(value)) return decodeArray(value, path, walk)
  const object = objectOf(value)
  return object ? (decodeObject(object, path, walk) ?? undefined) : value
}

function decodeObject(object: JsonObject, path: ClaimPath, walk: Walk): JsonObject | null {
  const { _sd: digests = [], ...plain } = object
  if (!Array.isArray(digests) || Object.hasOwn(plain, '...')) return null
  // One algorithm for the whole credential (RFC 9901 section 4.1.1).
  if (path.length > 0 && Object.hasOwn(plain, '_sd_alg')) return null
  const decoded: JsonObject = {}
  for (const [name, value] of Object.entries(plain)) {
    const inner = decodeValue(value, [...path, name], walk)
    if (inner === undefined) return null
    decoded[name] = inner
  }
  for (const digest of digests) {
    const disclosure = findDisclosure(digest, walk)
    if (disclosure === null) continue
    if (disclosure === 'invalid' || disclosure.name === null || Object.hasOwn(decoded, disclosure.name)) return null
    const claimPath = [...path, disclosure.name]
    if (path.length === 0 && NEVER_DISCLOSED.has(disclosure.name)) return null
    walk.disclosed.push(claimPath)
    const inner = decodeValue(disclosure.value, claimPath, walk)
    if (inner === undefined) return null
    decoded[disclosure.name] = inner
  }
  return decoded
}

function decodeArray(array: readonly JsonValue[], path: ClaimPath, walk: Walk): JsonValue[] | undefined {
  const decoded: JsonValue[] = []
  for (const element of array) {
    const object = objectOf(element)
    const isHidden = object !== null && Object.hasOwn(object, '...')
    if (isHidden && Object.keys(object).length !== 1) return undefined
    const disclosure = isHidden ? findDisclosure(object['...'], walk) : { name: null, value: element }
    if (disclosure === null) continue
    if (disclosure === 'invalid' || disclosure.name !== null) return undefined
    const claimPath = [...path, decoded.length]
    if (isHidden) walk.disclosed.push(claimPath)
    const inner = decodeValue(disclosure.value, claimPath, walk)
    if (inner === undefined) return undefined
    decoded.push(inner)
  }
  return decoded
}
