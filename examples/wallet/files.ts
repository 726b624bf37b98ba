import { readFileSync, writeFileSync } from 'node:fs'
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose'
import { ALG, type KeyPair } from './sd-jwt.ts'

/** The public key has its thumbprint as `kid`. */
export async function newKeyPair(): Promise<KeyPair> {
  const pair = await generateKeyPair(ALG, { extractable: true })
  const publicJwk = await exportJWK(pair.publicKey)
  return {
    privateJwk: await exportJWK(pair.privateKey),
    publicJwk: { ...publicJwk, kid: await calculateJwkThumbprint(publicJwk), alg: ALG },
  }
}

/** The file contains a private key, so only its owner may read it. */
export function save(file: string, content: object): void {
  writeFileSync(file, JSON.stringify(content, null, 2), { mode: 0o600 })
}

export function load<T>(file: string): T {
  return JSON.parse(readFileSync(file, 'utf8'))
}
