import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import type { JsonObject } from '../../canonical/parse-json.ts'
import { toMillis } from '../../time.ts'
import { anchorObject, payloadSha256 } from '../../transparency/anchoring/leaf.ts'
import { viewAnchor } from '../../transparency/operations/anchors.ts'
import { isUuid } from '../../uuid.ts'
import { isSignedBy, objectOf } from '../credentials/jwt.ts'
import { readSdJwt } from '../credentials/sd-jwt.ts'
import type { SigningKey } from '../domain-keys/signing-key.ts'
import { isPassportRevoked } from '../identity/passport-store.ts'
import type { OperationDeps } from './deps.ts'
import { passportType } from './issue-identity-passport.ts'

type PassportError = 'SIGNATURE' | 'EXPIRED' | 'REVOKED' | 'ANCHOR_UNKNOWN' | 'HASH_MISMATCH'

/** Claims of the credential that the object does not have. */
const CREDENTIAL_CLAIMS = new Set(['iss', 'vct', 'iat', 'exp', 'status'])

/** Accepts an object or SD-JWT VC. Returns a summary if hash or signature is valid. */
export async function verifyPassport(
  db: Knex,
  passport: string | JsonObject,
  deps: Pick<OperationDeps, 'now'> & { publicUrl: string; signingKeys: readonly SigningKey[] },
) {
  const reasons = new Set<PassportError>()
  const object = typeof passport === 'string' ? await readCredential(passport, deps) : passport
  if (!object) return { valid: false, reasons: ['SIGNATURE'], anchorState: null, summary: null }
  const anchor = objectOf(object.anchor)
  const isHashed = isOwnHash(object, anchor)
  if (!isHashed) reasons.add('HASH_MISMATCH')
  const txId = typeof anchor?.txId === 'string' && /^[0-9a-f]{64}$/.test(anchor.txId) ? anchor.txId : null
  const view = txId !== null && isHashed ? await viewAnchor(db, txId) : undefined
  if (!view) reasons.add('ANCHOR_UNKNOWN')
  const { passportId, expiresAt } = object
  const ends = typeof expiresAt === 'string' ? Date.parse(expiresAt) : Number.NaN
  if (!(ends > toMillis(deps.now()))) reasons.add('EXPIRED')
  const isId = typeof passportId === 'string' && isUuid(passportId)
  if (isId && (await isPassportRevoked(db, passportId))) reasons.add('REVOKED')
  return {
    valid: reasons.size === 0,
    reasons: ORDER.filter((reason) => reasons.has(reason)),
    anchorState: view?.state ?? null,
    summary: view ? summaryOf(object) : null,
  }
}

const ORDER: readonly PassportError[] = ['SIGNATURE', 'EXPIRED', 'REVOKED', 'ANCHOR_UNKNOWN', 'HASH_MISMATCH']

function summaryOf({ passportId, subjectRef, kind, purpose, assurance, issuedAt, expiresAt }: JsonObject) {
  return { passportId, subjectRef, kind, purpose, assurance: assurance ?? null, issuedAt, expiresAt }
}

/** Returns null if we did not sign it. */
async function readCredential(
  text: string,
  { publicUrl, signingKeys }: { publicUrl: string; signingKeys: readonly SigningKey[] },
): Promise<JsonObject | null> {
  const issuerJwt = readSdJwt(text)?.issuerJwt
  if (!issuerJwt || issuerJwt.payload.vct !== passportType(publicUrl)) return null
  const key = signingKeys.find(({ publicJwk }) => publicJwk.kid === issuerJwt.header.kid)
  if (!key || !(await isSignedBy(issuerJwt, key.publicJwk))) return null
  const { payload } = issuerJwt
  const claims = Object.entries(payload).filter(([name]) => !CREDENTIAL_CLAIMS.has(name))
  return { ...Object.fromEntries(claims), statusList: objectOf(payload.status)?.status_list ?? null }
}

function isOwnHash(object: JsonObject, anchor: JsonObject | null): boolean {
  const { eventType, timestamp } = object
  if (!anchor || typeof eventType !== 'string' || typeof timestamp !== 'string') return false
  try {
    const computed = anchorObject(object, { eventType, timestamp }).anchor
    const stated = [anchor.txId, anchor.payloadSha256]
    return (
      canonicalize([computed.txId, computed.payloadSha256]) === canonicalize(stated) &&
      payloadSha256(object) === stated[1]
    )
  } catch {
    return false
  }
}
