import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose'
import type { TokenAlg } from './access-token.ts'

/** A new signing key; `kid` is its RFC 7638 thumbprint. */
export interface NewTokenKey {
  kid: string
  alg: TokenAlg
  /** as published in the JWKS, with kid, use and alg */
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
