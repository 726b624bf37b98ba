import type { JsonObject, JsonValue } from '../../canonical/parse-json.ts'
import { AnchoringError } from './anchoring-error.ts'
import { parseBase64Hash, parseHexHash } from './text.ts'
import { isTlogProof, MAX_PROOF_HASHES, parseTlogProof } from './tlog-proof.ts'

/** Unverified; each part may be absent. */
export interface ProofBundle {
  /** As the service reported it; informative only. */
  readonly state?: string
  readonly entry?: string
  readonly inclusion?: { readonly index: number; readonly hashes: readonly Uint8Array[] }
  readonly checkpoint?: string
}

/**
 * A `c2sp.org/tlog-proof@v1` text, or the response of `GET /v1/anchors/{txId}`. `tlogProof` has precedence; an
 * `index` beside it must be equal. @throws AnchoringError PROOF_MALFORMED, TOO_LARGE
 */
export function parseProofBundle(value: JsonValue): ProofBundle {
  if (typeof value === 'string') return fromTlogProof(value)
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw malformed('neither a tlog-proof text nor the response of GET /v1/anchors/{txId}')
  const state = optionalString(value, 'state')
  const entry = optionalString(value, 'entry')
  const tlogProof = optionalString(value, 'tlogProof')
  const reported = { ...(state === undefined ? {} : { state }), ...(entry === undefined ? {} : { entry }) }
  const index = optionalIndex(value)
  if (tlogProof !== undefined) {
    const proof = fromTlogProof(tlogProof)
    if (index !== undefined && index !== proof.inclusion?.index) throw malformed('index and tlogProof disagree')
    return { ...reported, ...proof }
  }
  const checkpoint = optionalString(value, 'checkpoint')
  const hashes = optionalHashes(value)
  return {
    ...reported,
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
