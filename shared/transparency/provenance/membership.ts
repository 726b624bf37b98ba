import type { JsonObject, JsonValue } from '../../canonical/parse-json.ts'
import { AnchoringError } from '../anchoring/anchoring-error.ts'
import { leafHash, verifyInclusion } from '../anchoring/merkle.ts'
import type { TrustPolicy } from '../anchoring/policy.ts'
import type { ProofBundle } from '../anchoring/proof-bundle.ts'
import { parseHexHash } from '../anchoring/text.ts'
import { conclude, failed, passed, type Verification, verifyAnchored } from '../anchoring/verify.ts'

export function isMembership(value: JsonObject): boolean {
  return value.receivable !== undefined && value.cut !== undefined && value.path !== undefined
}

/** Works offline, without the other members of the cut. @throws AnchoringError MEMBERSHIP_MALFORMED */
export function verifyMembership(value: JsonObject, proof?: ProofBundle, policy?: TrustPolicy): Verification {
  const { index, path } = value
  const receivable = objectOf(value.receivable)
  const cut = objectOf(value.cut)
  const { root, size } = cut
  if (typeof index !== 'number' || !Array.isArray(path)) throw malformed()
  const hashes = path.map((item) => hexOf(item))
  const unanchored = verifyAnchored(receivable)
  const isUnchanged =
    unanchored.payloadSha256 !== undefined && unanchored.checks.every(({ result }) => result !== 'failed')
  const leaf = leafHash(hexOf(unanchored.payloadSha256))
  const isMember = typeof size === 'number' && verifyInclusion(leaf, index, size, hashes, hexOf(root))
  const member =
    isUnchanged && isMember
      ? passed('member', `the receivable is member ${index} of the cut of ${size}`)
      : failed(
          'member',
          'MEMBER_INVALID',
          isUnchanged ? 'the path does not lead to the root' : 'the receivable was changed',
        )
  const anchored = verifyAnchored(cut, proof, policy)
  return { ...anchored, ...conclude([member, ...anchored.checks]) }
}

function hexOf(value: JsonValue | undefined): Uint8Array {
  const bytes = typeof value === 'string' ? parseHexHash(value) : undefined
  if (!bytes) throw malformed()
  return bytes
}

function objectOf(value: JsonValue | undefined): JsonObject {
  if (value === null || value === undefined || typeof value !== 'object' || Array.isArray(value)) throw malformed()
  return value
}

function malformed(): AnchoringError {
  return new AnchoringError('MEMBERSHIP_MALFORMED', 'not a membership: expected a receivable, index, path and cut')
}
