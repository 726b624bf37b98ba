import { hash } from 'node:crypto'
import { canonicalize } from '../../canonical/jcs.ts'
import { parseJson } from '../../canonical/parse-json.ts'
import { AnchoringError } from './anchoring-error.ts'
import { MAX_ENTRY_BYTES } from './entry-bundle.ts'
import { leafHash } from './merkle.ts'
import { toHex } from './text.ts'

const ANCHOR_NETWORK = 'public-registry'
export const ANCHOR_NOTE = 'Only hashes are stored in the registry'

export interface AnchorBlock {
  network: string
  /** Lower-case hex RFC 6962 leaf hash. */
  txId: string
  /** Lower-case hex SHA-256 of the canonical object without its anchor. */
  payloadSha256: string
  note?: string
}

/** Stored, covered by a checkpoint, cosigned by the quorum, attested by an outside network. */
export type AnchorState = 'PENDING' | 'INCLUDED' | 'WITNESSED' | 'EXTERNAL'

/** The log stores no ids, names or amounts of an object. */
export interface LogEntry {
  /** For example `risk_signals.pack_ready`. */
  readonly eventType: string
  /** ISO 8601 UTC with milliseconds. */
  readonly timestamp: string
  readonly payloadSha256: string
}

const EVENT_TYPE = /^[a-z0-9][a-z0-9_.-]{0,99}$/
const TIMESTAMP = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/
const SHA256_HEX = /^[0-9a-f]{64}$/

/** A random id must protect the hash from guesses. @throws CanonicalJsonError; AnchoringError OBJECT_MALFORMED */
export function payloadSha256(object: object): string {
  const prototype: unknown = Object.getPrototypeOf(object)
  if (prototype !== Object.prototype && prototype !== null)
    throw new AnchoringError('OBJECT_MALFORMED', 'only a plain object can be anchored')
  const { anchor: _anchor, ...rest }: { anchor?: unknown } = object
  return hash('sha256', canonicalize(rest), 'hex')
}

/** Encodes `{v: 1, eventType, timestamp, payloadSha256}`. @throws AnchoringError ENTRY_MALFORMED */
export function encodeLogEntry({ eventType, timestamp, payloadSha256: digest }: LogEntry): Uint8Array {
  if (!EVENT_TYPE.test(eventType) || !isInstant(timestamp) || !SHA256_HEX.test(digest))
    throw new AnchoringError('ENTRY_MALFORMED', 'an entry has an event type, an instant and a SHA-256')
  return Buffer.from(canonicalize({ v: 1, eventType, timestamp, payloadSha256: digest }))
}

/** Accepts only the canonical form. @throws AnchoringError ENTRY_MALFORMED */
export function decodeLogEntry(bytes: Uint8Array): LogEntry {
  const text = bytes.length <= MAX_ENTRY_BYTES ? Buffer.from(bytes).toString() : ''
  const entry = readEntry(text)
  if (entry === undefined || Buffer.compare(encodeLogEntry(entry), bytes) !== 0)
    throw new AnchoringError('ENTRY_MALFORMED', 'not a log entry of version 1')
  return entry
}

function readEntry(text: string): LogEntry | undefined {
  try {
    const value = parseJson(text, { maxDepth: 1 })
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined
    const { eventType, timestamp, payloadSha256: digest } = value
    if (typeof eventType !== 'string' || typeof timestamp !== 'string' || typeof digest !== 'string') return undefined
    return { eventType, timestamp, payloadSha256: digest }
  } catch {
    return undefined
  }
}

/** Known before the entry is sequenced; lower-case hex. */
export function txIdOf(entry: Uint8Array): string {
  return toHex(leafHash(entry))
}

/** The txId may be shown only after the entry is stored. */
export function anchorObject(
  object: object,
  event: Pick<LogEntry, 'eventType' | 'timestamp'>,
  note?: string,
): { entry: Uint8Array; anchor: AnchorBlock } {
  const digest = payloadSha256(object)
  const entry = encodeLogEntry({ ...event, payloadSha256: digest })
  const anchor: AnchorBlock = { network: ANCHOR_NETWORK, txId: txIdOf(entry), payloadSha256: digest }
  return { entry, anchor: note === undefined ? anchor : { ...anchor, note } }
}

export const PACK_EVENT_TYPE = 'risk_signals.pack_ready'

/** Undefined without both members. */
export function eventOf(
  object: Readonly<Record<string, unknown>>,
): Pick<LogEntry, 'eventType' | 'timestamp'> | undefined {
  const { eventType, timestamp, event, occurredAt, packId, generatedAt } = object
  if (typeof eventType === 'string' && typeof timestamp === 'string') return { eventType, timestamp }
  if (typeof event === 'string' && typeof occurredAt === 'string') return { eventType: event, timestamp: occurredAt }
  if (typeof packId === 'string' && typeof generatedAt === 'string')
    return { eventType: PACK_EVENT_TYPE, timestamp: generatedAt }
  return undefined
}

function isInstant(text: string): boolean {
  return TIMESTAMP.test(text) && !Number.isNaN(Date.parse(text))
}
