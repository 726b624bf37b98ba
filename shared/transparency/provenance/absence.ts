import { hash } from 'node:crypto'
import type { JsonObject, JsonValue } from '../../canonical/parse-json.ts'
import { AnchoringError } from '../anchoring/anchoring-error.ts'
import { leafHash, verifyInclusion } from '../anchoring/merkle.ts'
import type { TrustPolicy } from '../anchoring/policy.ts'
import type { ProofBundle } from '../anchoring/proof-bundle.ts'
import { parseHexHash } from '../anchoring/text.ts'
import { type Check, conclude, failed, passed, type Verification, verifyAnchored } from '../anchoring/verify.ts'

const KEY_TAG = Buffer.from('FFSET1')

/** SHA-256("FFSET1" || fingerprint) reveals nothing (docs/spec/evidence-families.md#absence-proofs). */
export function snapshotKey(fingerprint: Uint8Array): Buffer {
  return hash('sha256', Buffer.concat([KEY_TAG, fingerprint]), 'buffer')
}

export function isAbsence(value: JsonObject): boolean {
  return value.snapshot !== undefined && value.left !== undefined && value.right !== undefined
}

/** Works offline, by two adjacent keys of the sorted tree. @throws AnchoringError ABSENCE_MALFORMED */
export function verifyAbsence(value: JsonObject, proof?: ProofBundle, policy?: TrustPolicy): Verification {
  const key = snapshotKey(hexOf(value.fingerprint))
  const snapshot = objectOf(value.snapshot)
  const { root, size } = snapshot
  if (typeof size !== 'number') throw malformed()
  const tree = { size, root: hexOf(root) }
  const left = value.left === null ? null : neighbourOf(value.left)
  const right = value.right === null ? null : neighbourOf(value.right)
  const anchored = verifyAnchored(snapshot, proof, policy)
  return { ...anchored, ...conclude([checkAbsence(key, left, right, tree), ...anchored.checks]) }
}

interface Neighbour {
  index: number
  key: Uint8Array
  path: Uint8Array[]
}

interface Tree {
  size: number
  root: Uint8Array
}

function checkAbsence(key: Buffer, left: Neighbour | null, right: Neighbour | null, tree: Tree): Check {
  const wrong = (detail: string) => failed('absence', 'ABSENCE_INVALID', detail)
  if (![left, right].every((at) => at === null || isInTree(at, tree)))
    return wrong('a neighbour is not in the snapshot')
  if ((left && key.compare(left.key) <= 0) || (right && key.compare(right.key) >= 0))
    return wrong('the key does not lie between its neighbours')
  const isAdjacent = (right?.index ?? tree.size) - (left?.index ?? -1) === 1
  return isAdjacent
    ? passed('absence', `no key of this fingerprint is among the ${tree.size} of the snapshot`)
    : wrong('the neighbours are not adjacent')
}

function isInTree({ index, key, path }: Neighbour, { size, root }: Tree): boolean {
  return verifyInclusion(leafHash(key), index, size, path, root)
}

function neighbourOf(value: JsonValue | undefined): Neighbour {
  const { index, key, path } = objectOf(value)
  if (typeof index !== 'number' || !Array.isArray(path)) throw malformed()
  return { index, key: hexOf(key), path: path.map((node) => hexOf(node)) }
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
  return new AnchoringError(
    'ABSENCE_MALFORMED',
    'not a proof of absence: expected a fingerprint, its neighbours left and right, and a snapshot',
  )
}
