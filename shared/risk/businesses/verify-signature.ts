import { compactVerify, importJWK } from 'jose'
import { isBase64url } from '../../canonical/base64url.ts'
import type { EntityKey } from './entity.ts'

const ALGORITHMS = ['ES256', 'EdDSA']

/** Ignores keys that the JWS names. Returns the key's thumbprint, or null. */
export async function signerOf(jws: string, text: string, keys: readonly EntityKey[]): Promise<string | null> {
  if (!jws.split('.').every(isBase64url)) return null
  for (const { thumbprint, jwk, revokedAt } of keys) {
    if (revokedAt !== null) continue
    try {
      const key = await importJWK(jwk, jwk.kty === 'EC' ? 'ES256' : 'EdDSA')
      const { payload } = await compactVerify(jws, key, { algorithms: ALGORITHMS })
      if (Buffer.from(payload).toString('utf8') === text) return thumbprint
    } catch {}
  }
  return null
}
