import type { JsonObject, JsonValue } from '../../canonical/parse-json.ts'
import { AnchoringError } from './anchoring-error.ts'
import { parseBase64Hash, parseHexHash } from './text.ts'
import { isTlogProof, MAX_PROOF_HASHES, parseTlogProof } from './tlog-proof.ts'

/** What came with an object to prove it; each part may be absent, nothing in it is believed before it verifies. */
export interface ProofBundle {
  /** As the service reported it; informative only. */
  readonly state?: string
  /** The log entry's text. */
  readonly entry?: string
  readonly inclusion?: { readonly index: number; readonly hashes: readonly Uint8Array[] }
  /** The signed note. */
  readonly checkpoint?: string
}

/**
 * Reads a proof in any of the forms accepted: the text of a `c2sp.org/tlog-proof@v1`, or the answer of
 * `GET /v1/anchors/{txId}` (`state`, `index`, `entry`, `proof`, `checkpoint`, `tlogProof`, each may be null or
 * absent; other members are ignored). `proof` is a list of base64 or hex hashes, leaf's sibling first. When
 * `tlogProof` is present it is what counts, and an `index` beside it must be its own.
 * @throws AnchoringError PROOF_MALFORMED, TOO_LARGE
 */
export function parseProofBundle(value: JsonValue): ProofBundle {
  if (typeof value === 'string') return fromTlogProof(value)
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw malformed('neither a tlog-proof text nor the answer of GET /v1/anchors/{txId}')
  const state = optionalString(value, 'state')
  const entry = optionalString(value, 'entry')
  const tlogProof = optionalString(value, 'tlogProof')
  const notified = { ...(state === undefined ? {} : { state }), ...(entry === undefined ? {} : { entry }) }
  const index = optionalIndex(value)
  if (tlogProof !== undefined) {
    const proof = fromTlogProof(tlogProof)
    if (index !== undefined && index !== proof.inclusion?.index) throw malformed('index and tlogProof disagree')
    return { ...notified, ...proof }
  }
  const checkpoint = optionalString(value, 'checkpoint')
  const hashes = optionalHashes(value)
  return {
    ...notified,
    ...(checkpoint === undefined ? {} : { checkpoint }),
    ...(index === undefined || hashes === undefined ? {} : { inclusion: { index, hashes } }),
  }
}

function fromTlogProof(text: string): ProofBundle {
  if (!isTlogProof(text)) throw malformed('not a c2sp.org/tlog-proof@v1')
  const { index, hashes, checkpoint } = parseTlogProof(text)
  return { inclusion: { index, hashes }, checkpoint }
}

function optionalString(value: JsonObject, name: string): string | undefined {
  const member = value[name] ?? undefined
  if (member === undefined || typeof member === 'string') return member
  throw malformed(`${name} is not a text`)
}

function optionalIndex(value: JsonObject): number | undefined {
  const index = value.index ?? undefined
  if (index === undefined || (typeof index === 'number' && Number.isSafeInteger(index) && index >= 0)) return index
  throw malformed('index is not a whole number')
}

function optionalHashes({ proof }: JsonObject): Uint8Array[] | undefined {
  if (proof === null || proof === undefined) return undefined
  if (!Array.isArray(proof) || proof.length > MAX_PROOF_HASHES) throw malformed('proof is not a list of hashes')
  return proof.map((item) => {
    const hash = typeof item === 'string' ? (parseHexHash(item) ?? parseBase64Hash(item)) : undefined
    if (hash === undefined) throw malformed('proof is not a list of hashes')
    return hash
  })
}

function malformed(message: string): AnchoringError {
  return new AnchoringError('PROOF_MALFORMED', `not a proof: ${message}`)
}
