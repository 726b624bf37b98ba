import { createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import { inflateSync } from 'node:zlib'
import { isBase64url } from '../../canonical/base64url.ts'
import { CanonicalJsonError, canonicalize } from '../../canonical/jcs.ts'
import { type JsonObject, type JsonValue, parseJsonBytes } from '../../canonical/parse-json.ts'
import { AnchoringError } from '../anchoring/anchoring-error.ts'
import type { TrustPolicy } from '../anchoring/policy.ts'
import type { ProofBundle } from '../anchoring/proof-bundle.ts'
import {
  type Check,
  conclude,
  failed,
  inconclusive,
  passed,
  type Verification,
  verifyAnchored,
} from '../anchoring/verify.ts'

/** From `/.well-known/jwt-vc-issuer`, not from the passport. */
export interface PassportIssuer {
  readonly issuer: string
  readonly keys: readonly JsonObject[]
}

export interface PassportInput {
  readonly record: JsonObject
  /** null if only the record was given */
  readonly credential: string | null
}

export interface PassportTrust {
  readonly issuer: PassportIssuer | undefined
  /** the token that the passport's `statusList.uri` returns */
  readonly statusList: string | undefined
  readonly nowMs: number
}

const EVENT_TYPE = 'identity.passport_issued'
/** Claims of the credential that the record does not have. */
const CREDENTIAL_CLAIMS = new Set(['iss', 'vct', 'iat', 'exp', 'status'])
const MAX_LIST_BYTES = 16 * 1024 * 1024
const MAX_KEYS = 100

/** `<JWT>~`; a passport has no disclosures. */
export function isCredential(text: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+~$/.test(text.trim())
}

/** Accepts a credential, a record, or an API response with both. Returns undefined for anything else. */
export function readPassport(value: JsonObject | string): PassportInput | undefined {
  if (typeof value === 'string') return ofCredential(value.trim())
  const { record, credential } = value
  if (typeof credential === 'string') return { record: objectOf(record) ?? {}, credential }
  return value.eventType === EVENT_TYPE ? { record: value, credential: null } : undefined
}

function ofCredential(credential: string): PassportInput {
  const payload = readJwt(credential.slice(0, -1))?.payload
  if (!payload) throw malformed('the credential is not a signed JWT over a JSON object')
  return { record: recordOf(payload), credential }
}

function recordOf(payload: JsonObject): JsonObject {
  const claims = Object.entries(payload).filter(([name]) => !CREDENTIAL_CLAIMS.has(name))
  return { ...Object.fromEntries(claims), statusList: objectOf(payload.status)?.status_list ?? null }
}

export function parsePassportIssuer(value: JsonValue): PassportIssuer {
  const { issuer, jwks } = objectOf(value) ?? {}
  const keys = objectOf(jwks)?.keys
  const isList = Array.isArray(keys) && keys.length <= MAX_KEYS && keys.every((key) => objectOf(key) !== null)
  if (typeof issuer !== 'string' || !isList) {
    throw new AnchoringError('ISSUER_MALFORMED', 'not the metadata of an issuer: expected issuer and jwks')
  }
  return { issuer, keys: keys.map((key) => objectOf(key) ?? {}) }
}

/**
 * Verifies a passport offline. For a record without credential and status list it verifies only the anchor, which
 * remains valid after the expiry.
 */
export function verifyPassport(
  { record, credential }: PassportInput,
  { issuer, statusList, nowMs }: PassportTrust,
  proof?: ProofBundle,
  policy?: TrustPolicy,
): Verification {
  const anchored = verifyAnchored(record, proof, policy)
  const signed = credential === null ? [] : [checkSignature(credential, issuer), checkSame(credential, record)]
  const isForUse = credential !== null || statusList !== undefined
  const validity = isForUse ? [checkEnd(record, nowMs), checkStatus(record, statusList, issuer, nowMs)] : []
  return { ...anchored, ...conclude([...signed, ...validity, ...anchored.checks]) }
}

function checkSignature(credential: string, issuer: PassportIssuer | undefined): Check {
  if (!issuer)
    return inconclusive('signature', 'KEY_NOT_GIVEN', 'no trusted issuer was given: anyone could have signed')
  const jwt = readJwt(credential.replace(/~$/, ''))
  if (jwt?.payload.iss !== issuer.issuer)
    return failed('signature', 'KEY_UNKNOWN', 'the credential names another issuer')
  return checkKey(jwt, issuer, 'signature', `${issuer.issuer} signed the credential`)
}

function checkKey(jwt: Jwt, { keys }: PassportIssuer, name: 'signature' | 'status', detail: string): Check {
  const key = keys.find(({ kid }) => kid !== undefined && kid === jwt.header.kid)
  if (!key) return failed(name, 'KEY_UNKNOWN', 'the signature names no key of the issuer')
  return isSignedBy(jwt, key) ? passed(name, detail) : failed(name, 'SIGNATURE', 'the signature does not match its key')
}

function checkSame(credential: string, record: JsonObject): Check {
  const payload = readJwt(credential.replace(/~$/, ''))?.payload
  return payload && isEqual(recordOf(payload), record)
    ? passed('record', 'the credential equals the anchored object')
    : failed('record', 'RECORD_HASH', 'the credential differs from the anchored object')
}

function isEqual(one: JsonObject, other: JsonObject): boolean {
  try {
    return canonicalize(one) === canonicalize(other)
  } catch (error) {
    if (error instanceof CanonicalJsonError) return false
    throw error
  }
}

function checkEnd({ expiresAt }: JsonObject, nowMs: number): Check {
  const ends = typeof expiresAt === 'string' ? Date.parse(expiresAt) : Number.NaN
  if (Number.isNaN(ends)) return failed('expiry', 'EXPIRED', 'expiresAt is missing or malformed')
  return ends > nowMs
    ? passed('expiry', `it expires at ${expiresAt}`)
    : failed('expiry', 'EXPIRED', `it expired at ${expiresAt}`)
}

function checkStatus(
  record: JsonObject,
  text: string | undefined,
  issuer: PassportIssuer | undefined,
  nowMs: number,
): Check {
  const { uri, idx } = objectOf(record.statusList) ?? {}
  if (text === undefined) {
    return inconclusive('status', 'STATUS_NOT_GIVEN', `no status list was given: it may be revoked; see ${uri}`)
  }
  const list = readJwt(text.trim())
  const wrong = (detail: string) => failed('status', 'STATUS_INVALID', detail)
  if (list?.header.typ !== 'statuslist+jwt' || list.payload.sub !== uri)
    return wrong('the list belongs to another passport')
  if (!issuer)
    return inconclusive('status', 'KEY_NOT_GIVEN', 'no trusted issuer was given: anyone could have made the list')
  const signed = checkKey(list, issuer, 'status', '')
  if (signed.result !== 'passed') return signed
  const { iat, ttl } = list.payload
  if (typeof iat !== 'number') return wrong('iat of the list is missing')
  const bit = typeof idx === 'number' ? bitAt(objectOf(list.payload.status_list), idx) : undefined
  if (bit === undefined) return wrong('the list has no entry at this index')
  const at = new Date(iat * 1000).toISOString()
  if (bit === 1) return failed('status', 'REVOKED', `index ${idx} of the list of ${at} is revoked`)
  const isOld = typeof ttl === 'number' && (iat + ttl) * 1000 < nowMs
  return passed('status', `index ${idx} was not revoked at ${at}${isOld ? '; the list has expired since' : ''}`)
}

/** Counts bits from the least significant one. Returns undefined for another format or index. */
function bitAt(list: JsonObject | null, idx: number): number | undefined {
  const { bits, lst } = list ?? {}
  if (bits !== 1 || typeof lst !== 'string' || !Number.isSafeInteger(idx) || idx < 0) return undefined
  try {
    const bytes = inflateSync(Buffer.from(lst, 'base64url'), { maxOutputLength: MAX_LIST_BYTES })
    const byte = bytes[Math.floor(idx / 8)]
    return byte === undefined ? undefined : (byte >> (idx % 8)) & 1
  } catch {
    return undefined
  }
}

interface Jwt {
  header: JsonObject
  payload: JsonObject
  signed: string
  signature: Buffer
}

function readJwt(compact: string): Jwt | undefined {
  const parts = compact.split('.')
  const [header = '', payload = '', signature = ''] = parts
  if (parts.length !== 3 || !parts.every(isBase64url)) return undefined
  try {
    const read = [header, payload].map((part) => objectOf(parseJsonBytes(Buffer.from(part, 'base64url'))))
    const [headerMembers, payloadMembers] = read
    if (!headerMembers || !payloadMembers) return undefined
    const bytes = Buffer.from(signature, 'base64url')
    return { header: headerMembers, payload: payloadMembers, signed: `${header}.${payload}`, signature: bytes }
  } catch {
    return undefined
  }
}

/** Accepts only ES256, the algorithm of passports and their lists. */
function isSignedBy({ header, signed, signature }: Jwt, key: JsonObject): boolean {
  const { kty, crv, x, y } = key
  if (header.alg !== 'ES256' || header.crit !== undefined || kty !== 'EC' || crv !== 'P-256') return false
  try {
    // The import rejects a malformed key.
    const publicKey = createPublicKey({ key: { kty, crv, x, y } as JsonWebKey, format: 'jwk' })
    return verify('sha256', Buffer.from(signed), { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature)
  } catch {
    return false
  }
}

function objectOf(value: JsonValue | undefined): JsonObject | null {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : null
}

function malformed(message: string): AnchoringError {
  return new AnchoringError('PASSPORT_MALFORMED', message)
}
