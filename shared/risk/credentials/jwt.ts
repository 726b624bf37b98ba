import { compactVerify, importJWK, type JWK } from 'jose'
import { isBase64url } from '../../canonical/base64url.ts'
import { type JsonObject, type JsonValue, parseJsonBytes } from '../../canonical/parse-json.ts'

/** Algorithms in which credentials, key bindings and status lists may be signed (docs/spec/evidence-families.md#presentation-response). */
export const CREDENTIAL_ALGS: readonly string[] = ['ES256', 'ES384', 'EdDSA']

/** A compact JWS whose parts were read and nothing of which is believed. */
export interface UnverifiedJwt {
  compact: string
  header: JsonObject
  payload: JsonObject
}

/** Levels of nesting in a token. */
const MAX_DEPTH = 32

/** @returns null when it is no compact JWS over a JSON object */
export function readJwt(compact: string): UnverifiedJwt | null {
  const parts = compact.split('.')
  const [header = '', payload = '', signature = ''] = parts
  if (parts.length !== 3 || ![header, payload, signature].every(isBase64url)) return null
  const read = [header, payload].map((part) => objectOf(readJsonPart(part)))
  const [headerMembers, payloadMembers] = read
  return headerMembers && payloadMembers ? { compact, header: headerMembers, payload: payloadMembers } : null
}

/** A base64url part as JSON that means the same to everybody. @returns undefined when it is none */
export function readJsonPart(part: string): JsonValue | undefined {
  if (!isBase64url(part)) return undefined
  try {
    return parseJsonBytes(Buffer.from(part, 'base64url'), { maxDepth: MAX_DEPTH, maxValues: 20_000 })
  } catch {
    return undefined
  }
}

/** The value when it is an object, else null. */
export function objectOf(value: JsonValue | undefined): JsonObject | null {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : null
}

/** Whether this key signed the token in the algorithm that its header names, one of those allowed. */
export async function isSignedBy(jwt: Pick<UnverifiedJwt, 'compact' | 'header'>, jwk: JWK): Promise<boolean> {
  const { alg, crit } = jwt.header
  if (typeof alg !== 'string' || !CREDENTIAL_ALGS.includes(alg) || crit !== undefined) return false
  try {
    await compactVerify(jwt.compact, await importJWK(jwk, alg), { algorithms: [alg] })
    return true
  } catch {
    return false
  }
}

/** A compact JWS over any text, unverified. @returns null when it is none */
export function readTextJws(compact: string): { compact: string; header: JsonObject; text: string } | null {
  const parts = compact.split('.')
  const header = objectOf(readJsonPart(parts[0] ?? ''))
  if (parts.length !== 3 || !header || !parts.slice(1).every(isBase64url)) return null
  return { compact, header, text: Buffer.from(parts[1] ?? '', 'base64url').toString('utf8') }
}
