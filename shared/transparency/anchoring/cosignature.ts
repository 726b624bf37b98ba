import { type NoteKey, type NoteSigner, signMessage, verifyMessage } from './note-key.ts'

const TIME_BYTES = 8

/** C2SP tlog-cosignature v1; `time` is in POSIX seconds. */
export function cosignedMessage(text: string, time: number): string {
  return `cosignature/v1\ntime ${time}\n${text}`
}

/** Returns the time as 8 bytes, big-endian, followed by the Ed25519 signature. */
export function cosign(text: string, time: number, signer: NoteSigner): Uint8Array {
  const timestamp = Buffer.alloc(TIME_BYTES)
  timestamp.writeBigUInt64BE(BigInt(time))
  return Buffer.concat([timestamp, signMessage(signer, cosignedMessage(text, time))])
}

/** Returns the witness's POSIX seconds; undefined when invalid. */
export function verifyCosignature(text: string, signature: Uint8Array, key: NoteKey): number | undefined {
  if (signature.length !== TIME_BYTES + 64) return undefined
  const bytes = Buffer.from(signature)
  const time = bytes.readBigUInt64BE()
  if (time > BigInt(Number.MAX_SAFE_INTEGER)) return undefined
  return verifyMessage(key, cosignedMessage(text, Number(time)), bytes.subarray(TIME_BYTES)) ? Number(time) : undefined
}
