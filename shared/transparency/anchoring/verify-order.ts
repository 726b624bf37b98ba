import type { JsonObject } from '../../canonical/parse-json.ts'
import { readCheckpoint } from './checkpoint.ts'
import type { TrustPolicy } from './policy.ts'
import type { ProofBundle } from './proof-bundle.ts'
import { type Check, conclude, failed, inconclusive, passed, type Verification, verifyAnchored } from './verify.ts'

interface Logged {
  object: JsonObject
  proof?: ProofBundle | undefined
}

/** Verifies both objects, and that `first` precedes `second` in one log (docs/spec/evidence-families.md#absence-proofs). */
export function verifyBefore(first: Logged, second: Logged, policy?: TrustPolicy): Verification {
  const one = verifyAnchored(first.object, first.proof, policy)
  const other = verifyAnchored(second.object, second.proof, policy)
  const isProven = [one, other].every(({ checks }) =>
    checks.some(({ name, result }) => name === 'inclusion' && result === 'passed'),
  )
  return { ...one, ...conclude([...one.checks, ...other.checks, orderOf(first, second, isProven)]) }
}

function orderOf({ proof: one }: Logged, { proof: other }: Logged, isProven: boolean): Check {
  if (!isProven || !one?.inclusion || !other?.inclusion || !one.checkpoint || !other.checkpoint)
    return inconclusive('order', 'PROOF_MISSING', 'the positions of both objects in the log are not proven')
  const origins = [one.checkpoint, other.checkpoint].map((note) => readCheckpoint(note).origin)
  if (origins[0] !== origins[1]) return failed('order', 'ORDER_MISMATCH', 'the objects are in different logs')
  const [at, later] = [one.inclusion.index, other.inclusion.index]
  return at < later
    ? passed('order', `entry ${at} precedes entry ${later}`)
    : failed('order', 'ORDER_MISMATCH', `entry ${at} does not precede entry ${later}`)
}
