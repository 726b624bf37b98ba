import { createPrivateKey, createPublicKey, hash, sign, verify } from 'node:crypto'
import type { JsonValue } from '../../canonical/parse-json.ts'
import { AnchoringError } from '../anchoring/anchoring-error.ts'
import { parseBase64, toBase64 } from '../anchoring/text.ts'

export const STATEMENT_TYPE = 'application/vnd.in-toto+json'

/** A JWK of RFC 8037, named by its thumbprint (RFC 7638). */
export interface EvidenceKey {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  readonly x: string
  readonly kid: string
  readonly use: 'sig'
  readonly alg: 'EdDSA'
}

export interface Envelope {
  /** base64, standard or URL-safe */
  readonly payload: string
  readonly payloadType: string
  readonly signatures: readonly { readonly keyid?: string; readonly sig: string }[]
}

export interface EvidenceSigner {
  seed: Uint8Array
  publicKey: Uint8Array
}

const MAX_KEYS = 100
const MAX_SIGNATURES = 10

export function evidenceKey(publicKey: Uint8Array): EvidenceKey {
  const x = Buffer.from(publicKey).toString('base64url')
  const kid = hash('sha256', JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }), 'base64url')
  return { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'EdDSA' }
}

/** DSSE 1.0: type and body with their lengths, so that the boundary cannot move. */
export function preAuthEncoding(payloadType: string, payload: Uint8Array): Buffer {
  const type = Buffer.from(payloadType)
  return Buffer.concat([Buffer.from(`DSSEv1 ${type.length} ${payloadType} ${payload.length} `), payload])
}

/** Standard or URL-safe alphabet (DSSE 1.0); undefined for anything else. */
export function decodeEither(text: string): Uint8Array | undefined {
  const standard = text.replaceAll('-', '+').replaceAll('_', '/')
  const isMixed = /[-_]/.test(text) && /[+/]/.test(text)
  return isMixed ? undefined : parseBase64(standard.padEnd(Math.ceil(standard.length / 4) * 4, '='))
}

/** Ed25519 is deterministic: the same payload has the same envelope. */
export function signEnvelope(payload: Uint8Array, { seed, publicKey }: EvidenceSigner): Envelope {
  const { kty, crv, x, kid } = evidenceKey(publicKey)
  const d = Buffer.from(seed).toString('base64url')
  const key = createPrivateKey({ key: { kty, crv, x, d }, format: 'jwk' })
  const sig = toBase64(sign(null, preAuthEncoding(STATEMENT_TYPE, payload), key))
  return { payload: toBase64(payload), payloadType: STATEMENT_TYPE, signatures: [{ keyid: kid, sig }] }
}

/** A signature without a key id may be of any trusted key. KEY_UNKNOWN without one, SIGNATURE if wrong. */
export function checkEnvelope(
  envelope: Envelope,
  trusted: readonly EvidenceKey[],
): 'SIGNED' | 'KEY_UNKNOWN' | 'SIGNATURE' {
  const payload = decodeEither(envelope.payload)
  const isOf = (sig: string, { kty, crv, x }: EvidenceKey) => {
    const signature = decodeEither(sig)
    if (!payload || signature?.length !== 64) return false
    const keyObject = createPublicKey({ key: { kty, crv, x }, format: 'jwk' })
    return verify(null, preAuthEncoding(envelope.payloadType, payload), keyObject, signature)
  }
  let isNamed = false
  for (const { keyid = '', sig } of envelope.signatures) {
    const candidates = keyid === '' ? trusted : trusted.filter(({ kid }) => kid === keyid)
    if (candidates.some((key) => isOf(sig, key))) return 'SIGNED'
    if (keyid !== '' && candidates.length > 0) isNamed = true
  }
  return isNamed ? 'SIGNATURE' : 'KEY_UNKNOWN'
}

export function parseEnvelope(value: JsonValue | undefined): Envelope {
  const { payload, payloadType, signatures } = objectOf(value)
  if (typeof payload !== 'string' || typeof payloadType !== 'string' || !Array.isArray(signatures)) throw malformed()
  if (signatures.length > MAX_SIGNATURES) throw malformed()
  return {
    payload,
    payloadType,
    signatures: signatures.map((entry) => {
      const { keyid = '', sig } = objectOf(entry)
      if (typeof keyid !== 'string' || typeof sig !== 'string') throw malformed()
      return { keyid, sig }
    }),
  }
}

/** `{"keys": [jwk]}` or one JWK; computes each `kid`. @throws AnchoringError KEY_MALFORMED */
export function parseEvidenceKeys(value: JsonValue): EvidenceKey[] {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw noKey()
  const list = value.keys ?? [value]
  if (!Array.isArray(list) || list.length > MAX_KEYS) throw noKey()
  return list.map((entry) => {
    if (entry === null || typeof entry !== 'object' || Array.isArray(entry)) throw noKey()
    const { kty, crv, x } = entry
    if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string') throw noKey()
    const bytes = Buffer.from(x, 'base64url')
    if (bytes.length !== 32 || bytes.toString('base64url') !== x) throw noKey()
    return evidenceKey(bytes)
  })
}

function objectOf(value: JsonValue | undefined): Readonly<Record<string, JsonValue>> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw malformed()
  return value
}

function malformed(): AnchoringError {
  return new AnchoringError('ENVELOPE_MALFORMED', 'not a DSSE envelope')
}

function noKey(): AnchoringError {
  return new AnchoringError('KEY_MALFORMED', 'evidence keys must be Ed25519 JWKs')
}
