import { CompactEncrypt, importJWK, type JWK } from 'jose'

/** An answer for `direct_post.jwt`, encrypted to the key that the request names. */
export async function encryptAnswer(answer: object, key: JWK): Promise<string> {
  return await new CompactEncrypt(Buffer.from(JSON.stringify(answer)))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A128GCM', ...(key.kid === undefined ? {} : { kid: key.kid }) })
    .encrypt(await importJWK(key, 'ECDH-ES'))
}
