import { hash } from 'node:crypto'
import { CanonicalJsonError, canonicalize } from '../../canonical/jcs.ts'
import type { JsonObject, JsonValue } from '../../canonical/parse-json.ts'
import { AnchoringError } from './anchoring-error.ts'
import { leafHash, verifyInclusion } from './merkle.ts'
import type { TrustPolicy } from './policy.ts'
import type { ProofBundle } from './proof-bundle.ts'
import { parseHexHash } from './text.ts'
import { type Check, conclude, type Verification, verifyAnchored } from './verify.ts'

/** In the form of the API, with the path to the root in an anchored record. */
export interface RowBundle {
  row: JsonObject
  inclusion: JsonObject
  record: JsonObject
}

export function asRowBundle({ row, inclusion, record }: JsonObject): RowBundle | undefined {
  return isObject(row) && isObject(inclusion) && isObject(record) ? { row, inclusion, record } : undefined
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Works offline. Only `policy` is trusted. */
export function verifyRow(
  { row, inclusion, record }: RowBundle,
  proof?: ProofBundle,
  policy?: TrustPolicy,
): Verification {
  const membership = checkMembership(row, inclusion, record)
  const anchored = verifyAnchored(record, proof, policy)
  return { ...anchored, ...conclude([membership, ...anchored.checks]) }
}

function checkMembership(row: JsonObject, inclusion: JsonObject, record: JsonObject): Check {
  const name = 'membership'
  try {
    const { index, size, path } = readInclusion(inclusion)
    const root = typeof record.root === 'string' ? parseHexHash(record.root) : undefined
    if (!root || record.rows !== size) throw malformed('the record has another number of rows, or no root')
    const leaf = leafHash(hash('sha256', canonicalize(row), 'buffer'))
    return verifyInclusion(leaf, index, size, path, root)
      ? { name, result: 'passed', detail: `row ${index} of ${size} leads to the root of the record` }
      : {
          name,
          result: 'failed',
          code: 'MEMBERSHIP_INVALID',
          detail: 'the path does not lead from the row to the root',
        }
  } catch (error) {
    if (!(error instanceof AnchoringError || error instanceof CanonicalJsonError)) throw error
    return { name, result: 'failed', code: 'MEMBERSHIP_INVALID', detail: error.message }
  }
}

function readInclusion({ index, size, path }: JsonObject): { index: number; size: number; path: Uint8Array[] } {
  if (typeof index !== 'number' || typeof size !== 'number' || !Array.isArray(path))
    throw malformed('the inclusion has no index, size or path')
  const nodes = path.map((node) => (typeof node === 'string' ? parseHexHash(node) : undefined))
  if (!nodes.every((node) => node !== undefined)) throw malformed('a node of the path is not a hash')
  return { index, size, path: nodes }
}

function malformed(message: string): AnchoringError {
  return new AnchoringError('PROOF_MALFORMED', message)
}
