import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import type { AnchorState } from '../anchoring/leaf.ts'
import type { TrustPolicy } from '../anchoring/policy.ts'
import { parseProofBundle } from '../anchoring/proof-bundle.ts'
import { type AnchoredFacts, type Verification, verifyFacts } from '../anchoring/verify.ts'
import { viewAnchor } from './view-anchor.ts'

/** What the log says of an object: `state` and `txId` are null without an anchor. */
export interface AnchorVerification extends Pick<Verification, 'verdict' | 'checks'> {
  verified: boolean
  payloadSha256: string
  txId: string | null
  state: AnchorState | null
}

/**
 * Looks the anchor of an object up and verifies it, by the policy of its log.
 * @param facts of the object, with the anchor that it has or would have
 */
export async function verifyAnchor(
  db: Knex,
  facts: AnchoredFacts,
  policyOf: (env: ApiEnv) => Promise<TrustPolicy>,
): Promise<AnchorVerification> {
  const { anchor } = facts
  const txId = typeof anchor === 'string' ? null : anchor.txId
  const view = txId === null ? undefined : await viewAnchor(db, txId)
  const env = view?.env === 'production' ? 'PRODUCTION' : 'SANDBOX'
  const proof = view ? parseProofBundle({ ...view }) : undefined
  const { verdict, checks } = verifyFacts(facts, proof, await policyOf(env))
  return {
    verified: verdict === 'VERIFIED',
    // An anchor that the log does not hold was never given by us.
    verdict: view ? verdict : 'FAILED',
    payloadSha256: facts.digest,
    txId,
    state: view?.state ?? null,
    checks,
  }
}
