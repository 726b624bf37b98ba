import { type NoteKey, type NoteSigner, signMessage, verifyMessage } from './note-key.ts'

const TIME_BYTES = 8

/** What a witness signs (C2SP tlog-cosignature v1); `time` is POSIX seconds, `text` the checkpoint's note text. */
export function cosignedMessage(text: string, time: number): string {
  return `cosignature/v1\ntime ${time}\n${text}`
}

/** The signature bytes of a type 4 line: 8-byte big-endian time || Ed25519. */
export function cosign(text: string, time: number, signer: NoteSigner): Uint8Array {
  const timestamp = Buffer.alloc(TIME_BYTES)
  timestamp.writeBigUInt64BE(BigInt(time))
  return Buffer.concat([timestamp, signMessage(signer, cosignedMessage(text, time))])
}

/**
 * Verifies the signature bytes of a type 4 line, which may come from an attacker.
 * @returns POSIX seconds that the witness claims, or undefined when the signature is not its own
 */
export function verifyCosignature(text: string, signature: Uint8Array, key: NoteKey): number | undefined {
  if (signature.length !== TIME_BYTES + 64) return undefined
  const bytes = Buffer.from(signature)
  const time = bytes.readBigUInt64BE()
  if (time > BigInt(Number.MAX_SAFE_INTEGER)) return undefined
  return verifyMessage(key, cosignedMessage(text, Number(time)), bytes.subarray(TIME_BYTES)) ? Number(time) : undefined
}
