import { createHash } from 'node:crypto'
import type libsodium from 'libsodium-wrappers-sumo'

let loaded: typeof libsodium | undefined

/** The other functions need libsodium. Loads it once per process. */
export async function oprfReady(): Promise<void> {
  const { default: sodium } = await import('libsodium-wrappers-sumo')
  await sodium.ready
  loaded = sodium
}

function loadedSodium(): typeof libsodium {
  if (!loaded) throw new Error('oprfReady() was not awaited')
  return loaded
}

/** RFC 9497, sections 3.1 and 4.1. */
const CONTEXT = Buffer.concat([Buffer.from('OPRFV1-'), Buffer.from([1]), Buffer.from('-ristretto255-SHA512')])
const GROUP_DST = Buffer.concat([Buffer.from('HashToGroup-'), CONTEXT])
const DST_PRIME = Buffer.concat([GROUP_DST, Buffer.from([GROUP_DST.length])])
const FINALIZE = Buffer.from('Finalize')
const BLOCK = Buffer.alloc(128)

/** The private key is a 32-byte scalar in little-endian. */
export interface OprfKey {
  privateKey: Buffer
  publicKey: Buffer
}

export function newOprfKey(): OprfKey {
  const sodium = loadedSodium()
  const privateKey = Buffer.from(sodium.crypto_core_ristretto255_scalar_random())
  return { privateKey, publicKey: Buffer.from(sodium.crypto_scalarmult_ristretto255_base(privateKey)) }
}

/** RFC 9497, section 3.3.2; a client with a blinded input gets the same 64 bytes. */
export function evaluateOprf(privateKey: Uint8Array, input: Uint8Array): Buffer {
  const sodium = loadedSodium()
  const element = sodium.crypto_core_ristretto255_from_hash(expandMessage(input))
  const evaluated = sodium.crypto_scalarmult_ristretto255(privateKey, element)
  return sha512(lengthOf(input), input, lengthOf(evaluated), evaluated, FINALIZE)
}

/** RFC 9380, section 5.3.1: SHA-512, one block of 64 bytes. */
function expandMessage(message: Uint8Array): Buffer {
  const first = sha512(BLOCK, message, Buffer.from([0, 64, 0]), DST_PRIME)
  return sha512(first, Buffer.from([1]), DST_PRIME)
}

function sha512(...parts: Uint8Array[]): Buffer {
  const hash = createHash('sha512')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

function lengthOf(bytes: Uint8Array): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(bytes.length)
  return length
}
