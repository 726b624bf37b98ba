import { hash } from 'node:crypto'
import type { JWK } from 'jose'
import { type JsonValue, parseJson } from '../../canonical/parse-json.ts'
import { signJwt } from '../domain-keys/signing-key.ts'
import { isSignedBy, objectOf, readTextJws } from './jwt.ts'
import { issuerKeys, type TrustedIssuer } from './trusted-issuer.ts'

/** Each claim of `disclosable` can be disclosed separately; `plain` is always visible, including `iss` and `vct`. */
export async function issueSdJwt(
  plain: Readonly<Record<string, unknown>>,
  disclosable: Readonly<Record<string, JsonValue>>,
  signer: { kid: string; key: JWK },
  random: (size: number) => Buffer,
): Promise<string> {
  const disclosures = Object.entries(disclosable).map(([name, value]) =>
    Buffer.from(JSON.stringify([random(16).toString('base64url'), name, value])).toString('base64url'),
  )
  const digests = disclosures.map((text) => hash('sha256', text, 'base64url')).toSorted()
  const payload = { ...plain, ...(digests.length === 0 ? {} : { _sd: digests, _sd_alg: 'sha-256' }) }
  const jwt = await signJwt(payload, { typ: 'dc+sd-jwt', kid: signer.kid }, signer.key)
  return `${[jwt, ...disclosures].join('~')}~`
}

/** The compact JWS covers the hex SHA-256 of a document. */
export async function readDocumentSignature(
  signature: string,
  documentSha256: string,
  trusted: (iss: string) => Promise<readonly TrustedIssuer[]>,
  nowMs: number,
): Promise<boolean> {
  const jws = readTextJws(signature)
  if (jws?.text !== documentSha256 || typeof jws.header.iss !== 'string') return false
  for (const issuer of await trusted(jws.header.iss)) {
    for (const key of issuerKeys(jws.header, issuer, [], nowMs)) {
      if (await isSignedBy(jws, key)) return true
    }
  }
  return false
}

const MAX_KEYS = 20

/** SD-JWT VC section 5. Empty when malformed or of another issuer. */
export function readJwksMetadata(text: string, iss: string): JWK[] {
  try {
    const metadata = objectOf(parseJson(text, { maxDepth: 8, maxValues: 1_000 }))
    const keys = metadata?.issuer === iss ? objectOf(metadata.jwks)?.keys : undefined
    // The import rejects malformed keys.
    return Array.isArray(keys) ? keys.slice(0, MAX_KEYS).flatMap((key) => (objectOf(key) as JWK | null) ?? []) : []
  } catch {
    return []
  }
}
