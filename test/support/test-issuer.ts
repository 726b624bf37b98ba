import { createPrivateKey, hash, randomBytes, sign } from 'node:crypto'
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc'
import type { JWK } from 'jose'

/** A key pair as JWKs. */
export interface KeyPair {
  privateJwk: JWK
  publicJwk: JWK
}

const hasher = (data: string | ArrayBuffer, alg: string) =>
  new Uint8Array(hash(alg.replace('-', ''), typeof data === 'string' ? data : Buffer.from(data), 'buffer'))

/** Returns the raw signature in base64url, as the SD-JWT library requires. */
function signerOf({ privateJwk }: KeyPair) {
  const key = createPrivateKey({ key: { ...privateJwk } as never, format: 'jwk' })
  const digest = { 'P-256': 'sha256', 'P-384': 'sha384' }[String(privateJwk.crv)] ?? null
  return async (data: string) =>
    sign(digest, Buffer.from(data), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')
}

const algOf = ({ privateJwk }: KeyPair) => ({ 'P-256': 'ES256', 'P-384': 'ES384' })[String(privateJwk.crv)] ?? 'EdDSA'

/** Issues an SD-JWT VC with an independent library. */
export async function issueCredential(
  issuer: KeyPair,
  payload: { iss: string; vct: string; [claim: string]: unknown },
  disclosable: readonly string[],
  header: object = {},
): Promise<string> {
  const library = new SDJwtVcInstance({
    signer: signerOf(issuer),
    signAlg: algOf(issuer),
    hasher,
    hashAlg: 'sha-256',
    saltGenerator: () => randomBytes(16).toString('base64url'),
  })
  return await library.issue({ iat: Math.floor(Date.now() / 1000), ...payload }, { _sd: [...disclosable] } as never, {
    header: { kid: issuer.publicJwk.kid, ...header },
  })
}

/** The values to which a wallet binds a presentation. */
export interface Binding {
  nonce: string
  aud: string
  iat?: number
}

/** Presents some claims of a credential with the holder's key and the same library. */
export async function presentCredential(
  credential: string,
  holder: KeyPair,
  claims: readonly string[],
  { nonce, aud, iat = Math.floor(Date.now() / 1000) }: Binding,
): Promise<string> {
  const library = new SDJwtVcInstance({
    hasher,
    hashAlg: 'sha-256',
    kbSigner: signerOf(holder),
    kbSignAlg: algOf(holder),
  })
  const frame = Object.fromEntries(claims.map((name) => [name, true]))
  return await library.present(credential, frame, { kb: { payload: { iat, aud, nonce } } })
}
