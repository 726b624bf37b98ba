import { createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import { inflateSync } from 'node:zlib'
import { isBase64url } from '../../canonical/base64url.ts'
import { CanonicalJsonError, canonicalize } from '../../canonical/jcs.ts'
import { type JsonObject, type JsonValue, parseJsonBytes } from '../../canonical/parse-json.ts'
import { AnchoringError } from '../anchoring/anchoring-error.ts'
import type { TrustPolicy } from '../anchoring/policy.ts'
import type { ProofBundle } from '../anchoring/proof-bundle.ts'
import { type Check, conclude, failed, open, passed, type Verification, verifyAnchored } from '../anchoring/verify.ts'

/** Who issues passports: the answer of `/.well-known/jwt-vc-issuer`, got by another way than the passport. */
export interface PassportIssuer {
  readonly issuer: string
  readonly keys: readonly JsonObject[]
}

/** A passport: its anchored object, as it came or as its credential says it. */
export interface PassportInput {
  readonly record: JsonObject
  /** SD-JWT VC; null when only the object came */
  readonly credential: string | null
}

/** What the verifier was given beside the passport. */
export interface PassportTrust {
  readonly issuer: PassportIssuer | undefined
  /** the signed list that the passport's `statusList.uri` names */
  readonly statusList: string | undefined
  readonly nowMs: number
}

const EVENT_TYPE = 'identity.passport_issued'
/** Claims that a passport has as credential, and not as object. */
const CREDENTIAL_CLAIMS = new Set(['iss', 'vct', 'iat', 'exp', 'status'])
const MAX_LIST_BYTES = 16 * 1024 * 1024
const MAX_KEYS = 100

/** Whether a text is a credential: `<JWT>~`. A passport discloses nothing, so nothing follows. */
export function isCredential(text: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+~$/.test(text.trim())
}

/** The passport of a credential, of an answer that holds both, or the object itself; undefined for anything else. */
export function readPassport(value: JsonObject | string): PassportInput | undefined {
  if (typeof value === 'string') return ofCredential(value.trim())
  const { record, credential } = value
  if (typeof credential === 'string') return { record: objectOf(record) ?? {}, credential }
  return value.eventType === EVENT_TYPE ? { record: value, credential: null } : undefined
}

function ofCredential(credential: string): PassportInput {
  const payload = readJwt(credential.slice(0, -1))?.payload
  if (!payload) throw malformed('the credential is no signed JWT over a JSON object')
  return { record: recordOf(payload), credential }
}

/** The anchored object that a credential's claims say. */
function recordOf(payload: JsonObject): JsonObject {
  const own = Object.entries(payload).filter(([name]) => !CREDENTIAL_CLAIMS.has(name))
  return { ...Object.fromEntries(own), statusList: objectOf(payload.status)?.status_list ?? null }
}

/** @throws AnchoringError ISSUER_MALFORMED */
export function parsePassportIssuer(value: JsonValue): PassportIssuer {
  const { issuer, jwks } = objectOf(value) ?? {}
  const keys = objectOf(jwks)?.keys
  const isList = Array.isArray(keys) && keys.length <= MAX_KEYS && keys.every((key) => objectOf(key) !== null)
  if (typeof issuer !== 'string' || !isList) {
    throw new AnchoringError('ISSUER_MALFORMED', 'not the metadata of an issuer: it has an issuer and jwks')
  }
  return { issuer, keys: keys.map((key) => objectOf(key) ?? {}) }
}

/**
 * Verifies a passport offline; all of it, and the status list, may come from an attacker: who signed the credential,
 * that it says what was anchored, that it has not ended, that its place in the list is not revoked, and the anchor. Of
 * the object alone, without a list, its anchor: that stays true when the passport has ended.
 * @param proof of the anchor
 */
export function verifyPassport(
  { record, credential }: PassportInput,
  { issuer, statusList, nowMs }: PassportTrust,
  proof?: ProofBundle,
  policy?: TrustPolicy,
): Verification {
  const anchored = verifyAnchored(record, proof, policy)
  const signed = credential === null ? [] : [checkSignature(credential, issuer), checkSame(credential, record)]
  const isShown = credential !== null || statusList !== undefined
  const now = isShown ? [checkEnd(record, nowMs), checkStatus(record, statusList, issuer, nowMs)] : []
  return { ...anchored, ...conclude([...signed, ...now, ...anchored.checks]) }
}

function checkSignature(credential: string, issuer: PassportIssuer | undefined): Check {
  if (!issuer) return open('signature', 'KEY_NOT_GIVEN', 'no issuer to trust was given: anybody could have signed')
  const jwt = readJwt(credential.replace(/~$/, ''))
  if (jwt?.payload.iss !== issuer.issuer)
    return failed('signature', 'KEY_UNKNOWN', 'the credential names another issuer')
  return checkKey(jwt, issuer, 'signature', `${issuer.issuer} signed the credential`)
}

function checkKey(jwt: Jwt, { keys }: PassportIssuer, name: 'signature' | 'status', said: string): Check {
  const key = keys.find(({ kid }) => kid !== undefined && kid === jwt.header.kid)
  if (!key) return failed(name, 'KEY_UNKNOWN', 'no key of the issuer is named by the signature')
  return isSignedBy(jwt, key) ? passed(name, said) : failed(name, 'SIGNATURE', 'the signature is not that of its key')
}

function checkSame(credential: string, record: JsonObject): Check {
  const payload = readJwt(credential.replace(/~$/, ''))?.payload
  return payload && isEqual(recordOf(payload), record)
    ? passed('record', 'the credential says what the anchored object says')
    : failed('record', 'RECORD_HASH', 'the credential says something else than the anchored object')
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
  if (Number.isNaN(ends)) return failed('expiry', 'EXPIRED', 'it does not say when it ends')
  return ends > nowMs
    ? passed('expiry', `it ends at ${expiresAt}`)
    : failed('expiry', 'EXPIRED', `it ended at ${expiresAt}`)
}

function checkStatus(
  record: JsonObject,
  text: string | undefined,
  issuer: PassportIssuer | undefined,
  nowMs: number,
): Check {
  const { uri, idx } = objectOf(record.statusList) ?? {}
  if (text === undefined) {
    return open('status', 'STATUS_NOT_GIVEN', `no status list was given: it may be revoked; see ${uri}`)
  }
  const list = readJwt(text.trim())
  const wrong = (detail: string) => failed('status', 'STATUS_INVALID', detail)
  if (list?.header.typ !== 'statuslist+jwt' || list.payload.sub !== uri)
    return wrong('it is not the list of this passport')
  if (!issuer) return open('status', 'KEY_NOT_GIVEN', 'no issuer to trust was given: anybody could have made the list')
  const signed = checkKey(list, issuer, 'status', '')
  if (signed.result !== 'passed') return signed
  const { iat, ttl } = list.payload
  if (typeof iat !== 'number') return wrong('the list does not say of when it is')
  const bit = typeof idx === 'number' ? bitAt(objectOf(list.payload.status_list), idx) : undefined
  if (bit === undefined) return wrong('the list has no such place')
  const at = new Date(iat * 1000).toISOString()
  if (bit === 1) return failed('status', 'REVOKED', `place ${idx} of the list of ${at} is revoked`)
  const isOld = typeof ttl === 'number' && (iat + ttl) * 1000 < nowMs
  return passed(
    'status',
    `place ${idx} was not revoked at ${at}${isOld ? ', which is older than the list allows' : ''}`,
  )
}

/** The bit of a list of one bit each, least significant first; undefined for another list or a place outside of it. */
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

/** ES256 alone: that is what passports and their lists are signed with. */
function isSignedBy({ header, signed, signature }: Jwt, key: JsonObject): boolean {
  const { kty, crv, x, y } = key
  if (header.alg !== 'ES256' || header.crit !== undefined || kty !== 'EC' || crv !== 'P-256') return false
  try {
    // What is no key is refused by the import.
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
