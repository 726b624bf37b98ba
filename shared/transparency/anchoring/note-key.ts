import { createPrivateKey, createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto'
import { AnchoringError } from './anchoring-error.ts'
import { equalBytes, parseBase64, toBase64, toHex } from './text.ts'

/** C2SP signed-note: 1 signs the note's text, 4 is a witness's timestamped cosignature. */
export type NoteKeyType = 1 | 4
export const LOG_KEY: NoteKeyType = 1
export const WITNESS_KEY: NoteKeyType = 4

/** `name` and `id` together select its signature lines. */
export interface NoteKey {
  readonly name: string
  readonly type: NoteKeyType
  readonly id: Uint8Array
  readonly publicKey: Uint8Array
  readonly keyObject: KeyObject
}

export interface NoteSigner {
  readonly key: NoteKey
  readonly privateKey: KeyObject
}

const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')
const NAME = /^[^\s+\p{Z}\p{Cc}]{1,255}$/u

/** Not empty, no Unicode space, no plus (C2SP signed-note). */
export function isKeyName(name: string): boolean {
  return NAME.test(name) && name.isWellFormed()
}

/** The Ed25519 seed has 32 bytes. @throws AnchoringError KEY_MALFORMED */
export function signerFromSeed(name: string, type: NoteKeyType, seed: Uint8Array): NoteSigner {
  if (seed.length !== 32) throw new AnchoringError('KEY_MALFORMED', 'an Ed25519 seed has 32 bytes')
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' })
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' })
  return { key: noteKey(name, type, spki.subarray(SPKI_PREFIX.length)), privateKey }
}

/** The key has 32 raw bytes. @throws AnchoringError KEY_MALFORMED */
export function noteKey(name: string, type: NoteKeyType, publicKey: Uint8Array): NoteKey {
  if (!isKeyName(name)) throw new AnchoringError('KEY_MALFORMED', 'a key name has no space and no plus')
  if (publicKey.length !== 32) throw new AnchoringError('KEY_MALFORMED', 'an Ed25519 public key has 32 bytes')
  const keyObject = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, publicKey]), format: 'der', type: 'spki' })
  return { name, type, id: keyId(name, type, publicKey), publicKey, keyObject }
}

/** The first 4 bytes of SHA-256(name || 0x0A || type || key). */
function keyId(name: string, type: NoteKeyType, publicKey: Uint8Array): Uint8Array {
  return hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(type), publicKey]), 'buffer').subarray(0, 4)
}

/** `name+hex(id)+base64(type||key)`, the published form. */
export function formatVerifierKey(key: NoteKey): string {
  return `${key.name}+${toHex(key.id)}+${toBase64(Buffer.concat([Buffer.of(key.type), key.publicKey]))}`
}

/** Checks the id. @throws AnchoringError KEY_MALFORMED */
export function parseVerifierKey(text: string): NoteKey {
  const [name = '', id = '', ...rest] = text.split('+')
  // Base64 may contain plus signs; names and ids cannot.
  const material = parseBase64(rest.join('+'))
  const type = material?.[0]
  if (text.length > 512 || material === undefined || (type !== LOG_KEY && type !== WITNESS_KEY))
    throw new AnchoringError('KEY_MALFORMED', 'a verifier key is name+id+base64 of an Ed25519 key of type 1 or 4')
  const key = noteKey(name, type, material.subarray(1))
  if (toHex(key.id) !== id)
    throw new AnchoringError('KEY_MALFORMED', 'the id of the verifier key does not match the key')
  return key
}

export function isSameKey(a: Pick<NoteKey, 'name' | 'id'>, b: Pick<NoteKey, 'name' | 'id'>): boolean {
  return a.name === b.name && equalBytes(a.id, b.id)
}

export function signMessage(signer: NoteSigner, message: string): Uint8Array {
  return sign(null, Buffer.from(message), signer.privateKey)
}

export function verifyMessage(key: NoteKey, message: string, signature: Uint8Array): boolean {
  return signature.length === 64 && verify(null, Buffer.from(message), key.keyObject, signature)
}
