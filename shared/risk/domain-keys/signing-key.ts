import { CompactSign, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'

export interface SigningKey {
  privateJwk: JWK
  /** with `kid`, its RFC 7638 thumbprint */
  publicJwk: JWK
}

export async function generateSigningKey(): Promise<SigningKey> {
  const pair = await generateKeyPair('ES256', { extractable: true })
  const bare = await exportJWK(pair.publicKey)
  const kid = await calculateJwkThumbprint(bare)
  return { privateJwk: await exportJWK(pair.privateKey), publicJwk: { ...bare, kid } }
}

export async function signJwt(
  payload: object,
  header: { typ: string; kid?: string; x5c?: string[] },
  key: JWK,
): Promise<string> {
  return await new CompactSign(new TextEncoder().encode(JSON.stringify(payload)))
    .setProtectedHeader({ ...header, alg: 'ES256' })
    .sign(await importJWK(key, 'ES256'))
}

/** One response may be encrypted to this key. */
export async function generateEncryptionKey(): Promise<Record<string, unknown>> {
  const pair = await generateKeyPair('ECDH-ES', { extractable: true, crv: 'P-256' })
  const privateJwk = await exportJWK(pair.privateKey)
  return { ...privateJwk, kid: await calculateJwkThumbprint(privateJwk) }
}
