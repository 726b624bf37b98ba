import type { JsonObject, JsonValue } from '../../canonical/parse-json.ts'
import { parseJsonBytes } from '../../canonical/parse-json.ts'
import { AnchoringError } from '../anchoring/anchoring-error.ts'
import { leafHash, rootOf } from '../anchoring/merkle.ts'
import type { TrustPolicy } from '../anchoring/policy.ts'
import { parseProofBundle } from '../anchoring/proof-bundle.ts'
import { parseHexHash, toHex } from '../anchoring/text.ts'
import { type Check, conclude, failed, passed, type Verification, verifyAnchored } from '../anchoring/verify.ts'
import type { Files } from './zip.ts'

export const POOL_CUT = 'cut.json'
export const POOL_PROOF = 'proof.txt'
export const POOL_RECEIVABLES = 'receivables.jsonl'

export function isPoolBundle(files: Files): boolean {
  return files.has(`data/${POOL_CUT}`)
}

/** Works offline. Tape and sums are derived and prove nothing. @throws AnchoringError BAG_MALFORMED */
export function verifyPoolBundle(files: Files, manifests: Check, policy?: TrustPolicy): Verification {
  const cut = objectOf(parse(files.get(`data/${POOL_CUT}`)))
  const proof = files.get(`data/${POOL_PROOF}`)
  const lines = files.get(`data/${POOL_RECEIVABLES}`)
  if (!proof || !lines) throw malformed()
  const anchored = verifyAnchored(cut, parseProofBundle(proof.toString()), policy)
  return { ...anchored, ...conclude([manifests, membersCheck(cut, lines), ...anchored.checks]) }
}

function membersCheck({ root, size }: JsonObject, lines: Buffer): Check {
  const leaves: Uint8Array[] = []
  for (let from = 0; from < lines.length; ) {
    const end = lines.indexOf(0x0a, from)
    if (end < 0) throw malformed()
    const { payloadSha256, checks } = verifyAnchored(objectOf(parse(lines.subarray(from, end))))
    const digest = payloadSha256 === undefined ? undefined : parseHexHash(payloadSha256)
    if (!digest || checks.some(({ result }) => result === 'failed')) {
      return failed('member', 'MEMBER_INVALID', `receivable ${leaves.length} was changed`)
    }
    leaves.push(leafHash(digest))
    from = end + 1
  }
  return leaves.length === size && toHex(rootOf(leaves)) === root
    ? passed('member', `all ${leaves.length} receivables lead to the root of the cut`)
    : failed('member', 'MEMBER_INVALID', 'the receivables differ from those of the cut, or from their order')
}

function parse(bytes: Buffer | undefined): JsonValue {
  return bytes ? parseJsonBytes(bytes, { allowNul: true }) : null
}

function objectOf(value: JsonValue): JsonObject {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw malformed()
  return value
}

function malformed(): AnchoringError {
  return new AnchoringError('BAG_MALFORMED', 'not a bag of a cut: expected cut.json, proof.txt and receivables.jsonl')
}
