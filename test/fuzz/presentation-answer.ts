import { CompactEncrypt, importJWK, type JWK } from 'jose'

/** Encrypts the answer of a wallet to the key of the verifier, for the response mode `direct_post.jwt` of OpenID4VP. */
export async function encryptAnswer(answer: object, key: JWK): Promise<string> {
  return await new CompactEncrypt(Buffer.from(JSON.stringify(answer)))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A128GCM', ...(key.kid === undefined ? {} : { kid: key.kid }) })
    .encrypt(await importJWK(key, 'ECDH-ES'))
}
