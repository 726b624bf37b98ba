import { compactVerify, importJWK, type JWK } from 'jose'
import { isBase64url } from '../../canonical/base64url.ts'
import { type JsonObject, type JsonValue, parseJsonBytes } from '../../canonical/parse-json.ts'

/** Accepted signature algorithms (docs/spec/evidence-families.md#presentation-response). */
export const CREDENTIAL_ALGS: readonly string[] = ['ES256', 'ES384', 'EdDSA']

export interface UnverifiedJwt {
  compact: string
  header: JsonObject
  payload: JsonObject
}

const MAX_DEPTH = 32

/** Returns null unless the text is a compact JWS over a JSON object. */
export function readJwt(compact: string): UnverifiedJwt | null {
  const parts = compact.split('.')
  const [header = '', payload = '', signature = ''] = parts
  if (parts.length !== 3 || ![header, payload, signature].every(isBase64url)) return null
  const read = [header, payload].map((part) => objectOf(readJsonPart(part)))
  const [headerMembers, payloadMembers] = read
  return headerMembers && payloadMembers ? { compact, header: headerMembers, payload: payloadMembers } : null
}

export function readJsonPart(part: string): JsonValue | undefined {
  if (!isBase64url(part)) return undefined
  try {
    return parseJsonBytes(Buffer.from(part, 'base64url'), { maxDepth: MAX_DEPTH, maxValues: 20_000 })
  } catch {
    return undefined
  }
}

export function objectOf(value: JsonValue | undefined): JsonObject | null {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : null
}

/** The header's algorithm must be an accepted one. */
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

/** Does not verify. Returns null when malformed. */
export function readTextJws(compact: string): { compact: string; header: JsonObject; text: string } | null {
  const parts = compact.split('.')
  const header = objectOf(readJsonPart(parts[0] ?? ''))
  if (parts.length !== 3 || !header || !parts.slice(1).every(isBase64url)) return null
  return { compact, header, text: Buffer.from(parts[1] ?? '', 'base64url').toString('utf8') }
}
