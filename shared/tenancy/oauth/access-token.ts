import {
  CompactSign,
  calculateJwkThumbprint,
  errors,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  jwtVerify,
} from 'jose'
import { isBase64url } from '../../canonical/base64url.ts'
import { type JsonObject, parseJson } from '../../canonical/parse-json.ts'
import type { ApiEnv } from '../../environment.ts'
import { UnauthorizedError } from '../../errors.ts'

export type TokenAlg = 'ES256' | 'RS256'

/** RFC 9068, times in POSIX seconds. */
export interface AccessToken {
  clientId: string
  /** uuid of the organisation */
  org: string
  env: ApiEnv
  scopes: string[]
  issuedAt: number
  expiresAt: number
  jti: string
}

export interface TokenAudience {
  issuer: string
  audience: string
}

/** The token cannot choose the algorithm. */
export interface VerificationKey {
  kid: string
  alg: TokenAlg
  key: CryptoKey | Uint8Array
}

/** seconds */
const LEEWAY_SECONDS = 30
const MAX_LIFETIME_SECONDS = 3600
/** Our own tokens have about 700 characters. */
const MAX_TOKEN = 4096

export async function importKey(jwk: JWK, alg: TokenAlg): Promise<CryptoKey | Uint8Array> {
  return await importJWK(jwk, alg)
}

/** `typ` is at+jwt, sub and client_id are the client (RFC 9068 section 2.2). */
export async function signAccessToken(
  token: AccessToken,
  { issuer, audience }: TokenAudience,
  signer: VerificationKey,
): Promise<string> {
  const claims = {
    iss: issuer,
    aud: audience,
    sub: token.clientId,
    client_id: token.clientId,
    org: token.org,
    env: token.env,
    scope: token.scopes.join(' '),
    iat: token.issuedAt,
    exp: token.expiresAt,
    jti: token.jti,
  }
  return await new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
    .setProtectedHeader({ alg: signer.alg, typ: 'at+jwt', kid: signer.kid })
    .sign(signer.key)
}

/** Unverified. @throws UnauthorizedError when the header differs from ours */
export function readKid(jwt: string): string {
  const [header = '', payload = '', signature = '', ...rest] = jwt.split('.')
  if (jwt.length > MAX_TOKEN || rest.length > 0 || ![header, payload, signature].every(isBase64url)) {
    throw refused('it was not issued by this service')
  }
  const members = parsePart(header)
  // Our tokens never contain jku, x5u, jwk, x5c or crit.
  const isOurs = Object.keys(members).every((name) => ['alg', 'typ', 'kid'].includes(name))
  if (!isOurs || members.typ !== 'at+jwt' || typeof members.kid !== 'string')
    throw refused('it was not issued by this service')
  return members.kid
}

/** Stricter than RFC 9068: one audience, no duplicates, a maximum lifetime. `now` is POSIX seconds. */
export async function verifyAccessToken(
  jwt: string,
  expected: TokenAudience,
  key: VerificationKey,
  now: number,
): Promise<AccessToken> {
  await jwtVerify(jwt, key.key, {
    ...expected,
    algorithms: [key.alg],
    typ: 'at+jwt',
    requiredClaims: ['sub', 'exp', 'jti'],
    currentDate: new Date(now * 1000),
    clockTolerance: LEEWAY_SECONDS,
    maxTokenAge: MAX_LIFETIME_SECONDS,
  }).catch((error: unknown) => {
    throw refused(reasonOf(error))
  })
  // jose accepts duplicate members and uses the last one; our parser rejects them.
  const claims = parsePart(jwt.split('.')[1] ?? '')
  // jose accepts a token for several audiences if one of them is ours.
  if (claims.aud !== expected.audience) throw refused('it is meant for another service')
  const { client_id: clientId, sub, org, env, scope, iat, exp, jti } = claims
  if (
    typeof clientId !== 'string' ||
    sub !== clientId ||
    typeof org !== 'string' ||
    (env !== 'SANDBOX' && env !== 'PRODUCTION') ||
    typeof scope !== 'string' ||
    typeof iat !== 'number' ||
    typeof exp !== 'number' ||
    typeof jti !== 'string'
  ) {
    throw refused('a claim is missing')
  }
  if (exp - iat > MAX_LIFETIME_SECONDS) throw refused('its lifetime is longer than the maximum')
  return { clientId, org, env, scopes: scope.split(' ').filter(Boolean), issuedAt: iat, expiresAt: exp, jti }
}

/** Reveals nothing new to the sender. */
function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'it has expired'
  if (!(error instanceof errors.JWTClaimValidationFailed)) return 'its signature is invalid'
  if (error.reason === 'check_failed') {
    if (error.claim === 'iss' || error.claim === 'aud') return 'it is meant for another service'
    if (error.claim === 'iat' || error.claim === 'nbf') return 'it is not valid yet'
  }
  return 'a claim is missing'
}

function parsePart(part: string): JsonObject {
  return parseText(Buffer.from(part, 'base64url').toString('utf8'))
}

/** Rejects duplicate members, because two parsers could read them differently. */
function parseText(text: string): JsonObject {
  try {
    const value = parseJson(text, { maxDepth: 8 })
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // falls through to the same error
  }
  throw refused('it was not issued by this service')
}

function refused(reason: string): UnauthorizedError {
  return new UnauthorizedError(`the access token is not accepted: ${reason}`)
}

/** `kid` is the RFC 7638 thumbprint of the key. */
export interface NewTokenKey {
  kid: string
  alg: TokenAlg
  /** with kid, use and alg */
  publicJwk: JWK
  privateJwk: JWK
}

export async function generateTokenKey(alg: TokenAlg): Promise<NewTokenKey> {
  const pair = await generateKeyPair(alg, { extractable: true, modulusLength: 2048 })
  const privateJwk = await exportJWK(pair.privateKey)
  const bare = await exportJWK(pair.publicKey)
  const kid = await calculateJwkThumbprint(bare)
  return { kid, alg, publicJwk: { ...bare, kid, use: 'sig', alg }, privateJwk }
}

/** RFC 8707: access tokens for the tools have this audience. */
export function toolsResource(publicUrl: string): string {
  return `${publicUrl}/mcp`
}
