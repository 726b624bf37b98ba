import { hash } from 'node:crypto'
import { calculateJwkThumbprint, type JWK } from 'jose'
import type { JsonObject } from '../../canonical/parse-json.ts'
import { CREDENTIAL_ALGS, isSignedBy, objectOf, type UnverifiedJwt } from './jwt.ts'
import type { CredentialQuery } from './query.ts'
import { type RefusalReason, RefusedPresentationError } from './refusal.ts'
import { type ClaimPath, credentialDigest, disclose, type PresentedSdJwt, sdHashOf } from './sd-jwt.ts'
import { type CredentialStatus, type StatusReference, statusReferenceOf } from './status-list.ts'
import { issuerKeys, type TrustedIssuer } from './trusted-issuer.ts'

const LEEWAY_SECONDS = 60

export interface ExpectedRequest {
  nonce: string
  /** complete with its prefix: the required `aud` of the key binding */
  clientId: string
  /** seconds since the epoch */
  requestedAt: number
}

export interface CredentialChecks {
  /** the operator's first; `vct` is the type of the credential */
  trusted(iss: string, vct: string | null): Promise<readonly TrustedIssuer[]>
  fetchKeys(issuer: TrustedIssuer): Promise<readonly JWK[]>
  statusOf(reference: StatusReference, issuer: TrustedIssuer): Promise<CredentialStatus>
  /** seconds since the epoch */
  now: number
}

export interface VerifiedCredential {
  issuer: TrustedIssuer
  vct: string
  issuerKeyThumbprint: string
  /** of the signed part, unique per credential */
  digest: Buffer
  claims: JsonObject
  disclosed: ClaimPath[]
  /** seconds since the epoch; null without an expiry */
  expiresAt: number | null
  status: StatusReference | null
}

const refuse = (reason: RefusalReason): never => {
  throw new RefusedPresentationError(reason)
}

/** In the order of the refusals (docs/spec/evidence-families.md#presentation-response). */
export async function verifyCredential(
  presented: PresentedSdJwt,
  query: CredentialQuery,
  expected: ExpectedRequest,
  checks: CredentialChecks,
): Promise<VerifiedCredential> {
  const { issuerJwt, keyBinding } = presented
  if (!hasAllowedAlg(issuerJwt) || (keyBinding && !hasAllowedAlg(keyBinding))) refuse('ALG_NOT_ALLOWED')
  const { issuer, key } = await findSigner(issuerJwt, checks)
  const { vct } = issuerJwt.payload
  if (typeof vct !== 'string' || !query.meta.vct_values.includes(vct)) return refuse('VCT_MISMATCH')
  const expiresAt = checkTimes(issuerJwt.payload, checks.now)
  const opened = disclose(presented) ?? refuse('DISCLOSURE_INVALID')
  await checkHolder(presented, expected, checks.now)
  const status = statusReferenceOf(opened.claims)
  if (status === 'unreadable') return refuse('STATUS_UNAVAILABLE')
  if (status) {
    const found = await checks.statusOf(status, issuer)
    if (found !== 'VALID') refuse(`STATUS_${found}`)
  }
  const issuerKeyThumbprint = await calculateJwkThumbprint(key)
  return { issuer, vct, issuerKeyThumbprint, digest: credentialDigest(issuerJwt.compact), ...opened, expiresAt, status }
}

function hasAllowedAlg({ header }: UnverifiedJwt): boolean {
  return typeof header.alg === 'string' && CREDENTIAL_ALGS.includes(header.alg)
}

async function findSigner(jwt: UnverifiedJwt, checks: CredentialChecks): Promise<{ issuer: TrustedIssuer; key: JWK }> {
  const { iss, vct } = jwt.payload
  const named = typeof iss === 'string' ? await checks.trusted(iss, typeof vct === 'string' ? vct : null) : []
  const trusted = named.filter(({ vctValues }) => typeof vct !== 'string' || vctValues.includes(vct))
  let hasKey = false
  for (const issuer of trusted) {
    const fetched = issuer.hasMetadata ? await checks.fetchKeys(issuer) : []
    for (const key of issuerKeys(jwt.header, issuer, fetched, checks.now * 1000)) {
      hasKey = true
      if (await isSignedBy(jwt, key)) return { issuer, key }
    }
  }
  return refuse(hasKey ? 'ISSUER_SIGNATURE' : 'ISSUER_UNTRUSTED')
}

function checkTimes({ nbf, iat, exp }: JsonObject, now: number): number | null {
  for (const from of [nbf, iat]) {
    if (from !== undefined && (typeof from !== 'number' || from > now + LEEWAY_SECONDS)) refuse('NOT_YET_VALID')
  }
  if (exp === undefined) return null
  if (typeof exp !== 'number' || exp <= now - LEEWAY_SECONDS) return refuse('CREDENTIAL_EXPIRED')
  return exp
}

/** The presenter must have the credential's key and sign for this request. */
async function checkHolder(presented: PresentedSdJwt, expected: ExpectedRequest, now: number): Promise<void> {
  const { issuerJwt, keyBinding, bound } = presented
  const jwk = objectOf(objectOf(issuerJwt.payload.cnf)?.jwk)
  if (!jwk || keyBinding?.header.typ !== 'kb+jwt') return refuse('HOLDER_BINDING_MISSING')
  // The import rejects a malformed JWK.
  if (!(await isSignedBy(keyBinding, jwk as JWK))) refuse('KB_SIGNATURE')
  const { nonce, aud, sd_hash: sdHash, iat, nbf, exp } = keyBinding.payload
  if (nonce !== expected.nonce) refuse('KB_NONCE')
  if (aud !== expected.clientId) refuse('KB_AUD')
  const algorithm = sdHashOf(issuerJwt)
  if (algorithm === null || sdHash !== hash(algorithm, bound, 'base64url')) refuse('KB_SD_HASH')
  const isFresh = typeof iat === 'number' && iat >= expected.requestedAt - LEEWAY_SECONDS && iat <= now + LEEWAY_SECONDS
  const hasBegun = nbf === undefined || (typeof nbf === 'number' && nbf <= now + LEEWAY_SECONDS)
  const isOver = exp !== undefined && (typeof exp !== 'number' || exp <= now - LEEWAY_SECONDS)
  if (!isFresh || !hasBegun || isOver) refuse('KB_IAT')
}
