import { createHash } from 'node:crypto'
import { AnchoringError } from '../anchoring/anchoring-error.ts'

/** A tree from a message to attestations, with the operations of today's calendars. */
export interface Timestamp {
  readonly message: Uint8Array
  readonly attestations: readonly Attestation[]
  readonly branches: readonly { readonly operation: Operation; readonly to: Timestamp }[]
}

export type Operation =
  | { readonly kind: 'sha256' | 'sha1' | 'ripemd160' }
  | { readonly kind: 'append' | 'prepend'; readonly argument: Uint8Array }

export type Attestation =
  /** The calendar will have a further attestation. */
  | { readonly kind: 'pending'; readonly uri: string }
  /** The message is the Merkle root (internal byte order) of the block at this height. */
  | { readonly kind: 'bitcoin'; readonly height: number }
  | { readonly kind: 'unknown'; readonly tag: Uint8Array; readonly payload: Uint8Array }

const FILE_HEADER = Buffer.concat([
  Buffer.from('\0OpenTimestamps\0\0Proof\0', 'latin1'),
  Buffer.from('bf89e2e884e89294', 'hex'),
  Buffer.of(1),
])
const PENDING_TAG = Buffer.from('83dfe30d2ef90c8e', 'hex')
const BITCOIN_TAG = Buffer.from('0588960d73d71901', 'hex')
const HASH_TAGS = { sha1: 0x02, ripemd160: 0x03, sha256: 0x08 } as const
const BINARY_TAGS = { append: 0xf0, prepend: 0xf1 } as const
const MAX_MESSAGE = 4096
const MAX_PAYLOAD = 8192
const MAX_DEPTH = 256
const MAX_NODES = 4096
const URI = /^https?:\/\/[A-Za-z0-9.\-_/:]{1,990}$/

/** @throws AnchoringError RECEIPT_MALFORMED beyond 4096 bytes */
export function apply(operation: Operation, message: Uint8Array): Uint8Array {
  if (operation.kind === 'append' || operation.kind === 'prepend') {
    const { argument } = operation
    const result = Buffer.concat(operation.kind === 'append' ? [message, argument] : [argument, message])
    if (result.length > MAX_MESSAGE) throw malformed('a message is too long')
    return result
  }
  return createHash(operation.kind).update(message).digest()
}

export function formatDetached(timestamp: Timestamp): Uint8Array {
  return Buffer.concat([FILE_HEADER, Buffer.of(HASH_TAGS.sha256), timestamp.message, formatTimestamp(timestamp)])
}

/** Attacker-controlled. @throws AnchoringError RECEIPT_MALFORMED */
export function parseDetached(file: Uint8Array): Timestamp {
  const digestAt = FILE_HEADER.length + 1
  if (
    Buffer.compare(file.subarray(0, FILE_HEADER.length), FILE_HEADER) !== 0 ||
    file[FILE_HEADER.length] !== HASH_TAGS.sha256
  )
    throw malformed('not an OpenTimestamps proof of a SHA-256')
  if (file.length < digestAt + 32) throw malformed('it ends early')
  return parseTimestamp(file.subarray(digestAt + 32), file.subarray(digestAt, digestAt + 32))
}

export function formatTimestamp({ attestations, branches }: Timestamp): Uint8Array {
  const items = [
    ...attestations.map((attestation) => Buffer.concat([Buffer.of(0), formatAttestation(attestation)])),
    ...branches.map(({ operation, to }) => Buffer.concat([formatOperation(operation), formatTimestamp(to)])),
  ]
  return Buffer.concat(items.flatMap((item, at) => (at < items.length - 1 ? [Buffer.of(0xff), item] : [item])))
}

/** Attacker-controlled. @throws AnchoringError RECEIPT_MALFORMED */
export function parseTimestamp(bytes: Uint8Array, message: Uint8Array): Timestamp {
  const reader = new Reader(bytes)
  const timestamp = readTimestamp(reader, message, { left: MAX_NODES }, 0)
  if (!reader.isAtEnd()) throw malformed('bytes after the timestamp')
  return timestamp
}

function readTimestamp(reader: Reader, message: Uint8Array, nodes: { left: number }, depth: number): Timestamp {
  const attestations: Attestation[] = []
  const branches: { operation: Operation; to: Timestamp }[] = []
  for (let more = true; more; ) {
    let tag = reader.byte()
    more = tag === 0xff
    if (more) tag = reader.byte()
    if (depth > MAX_DEPTH || nodes.left-- === 0) throw malformed('it has too many operations')
    if (tag === 0) attestations.push(readAttestation(reader))
    else {
      const operation = readOperation(reader, tag)
      branches.push({ operation, to: readTimestamp(reader, apply(operation, message), nodes, depth + 1) })
    }
  }
  return { message, attestations, branches }
}

function readOperation(reader: Reader, tag: number): Operation {
  for (const kind of ['sha256', 'sha1', 'ripemd160'] as const) if (HASH_TAGS[kind] === tag) return { kind }
  for (const kind of ['append', 'prepend'] as const)
    if (BINARY_TAGS[kind] === tag) {
      const argument = reader.bytes(MAX_MESSAGE)
      if (argument.length === 0) throw malformed('an empty argument')
      return { kind, argument }
    }
  throw malformed('an unknown operation')
}

function formatOperation(operation: Operation): Uint8Array {
  if (operation.kind === 'append' || operation.kind === 'prepend')
    return Buffer.concat([Buffer.of(BINARY_TAGS[operation.kind]), varBytes(operation.argument)])
  return Buffer.of(HASH_TAGS[operation.kind])
}

function readAttestation(reader: Reader): Attestation {
  const tag = reader.take(8)
  const payload = reader.bytes(MAX_PAYLOAD)
  const inner = new Reader(payload)
  if (Buffer.compare(tag, PENDING_TAG) === 0) {
    const uri = Buffer.from(inner.bytes(1000)).toString('latin1')
    if (!URI.test(uri) || !inner.isAtEnd()) throw malformed('a malformed calendar address')
    return { kind: 'pending', uri }
  }
  if (Buffer.compare(tag, BITCOIN_TAG) === 0) {
    const height = inner.varuint()
    if (!inner.isAtEnd()) throw malformed('a malformed block height')
    return { kind: 'bitcoin', height }
  }
  return { kind: 'unknown', tag, payload }
}

function formatAttestation(attestation: Attestation): Uint8Array {
  if (attestation.kind === 'pending')
    return Buffer.concat([PENDING_TAG, varBytes(varBytes(Buffer.from(attestation.uri, 'latin1')))])
  if (attestation.kind === 'bitcoin') return Buffer.concat([BITCOIN_TAG, varBytes(varuint(attestation.height))])
  return Buffer.concat([attestation.tag, varBytes(attestation.payload)])
}

class Reader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  byte(): number {
    const byte = this.#bytes[this.#at++]
    if (byte === undefined) throw malformed('it ends early')
    return byte
  }

  take(count: number): Uint8Array {
    const bytes = this.#bytes.subarray(this.#at, this.#at + count)
    if (bytes.length < count) throw malformed('it ends early')
    this.#at += count
    return bytes
  }

  /** Little-endian base 128, up to 2^35. */
  varuint(): number {
    let value = 0
    for (let scale = 1; scale < 2 ** 35; scale *= 128) {
      const byte = this.byte()
      value += (byte % 128) * scale
      if (byte < 128) return value
    }
    throw malformed('a number is too large')
  }

  bytes(limit: number): Uint8Array {
    const length = this.varuint()
    if (length > limit) throw malformed('a field is too long')
    return this.take(length)
  }
}

function varuint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return Buffer.from([...bytes, rest])
}

function varBytes(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([varuint(bytes.length), bytes])
}

function malformed(message: string): AnchoringError {
  return new AnchoringError('RECEIPT_MALFORMED', `not an OpenTimestamps proof: ${message}`)
}
