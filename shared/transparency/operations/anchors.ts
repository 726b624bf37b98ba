import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import type { AnchorState } from '../anchoring/leaf.ts'
import type { TrustPolicy } from '../anchoring/policy.ts'
import { parseProofBundle } from '../anchoring/proof-bundle.ts'
import { findEntry, fullNote, latestCheckpoint } from '../anchoring/store.ts'
import { toBase64 } from '../anchoring/text.ts'
import { formatTlogProof } from '../anchoring/tlog-proof.ts'
import { type AnchoredFacts, type Verification, verifyFacts } from '../anchoring/verify.ts'
import { logName } from '../log-keys/store.ts'
import { inclusionProof } from './proofs.ts'

/** `state` and `txId` are null without an anchor. */
export interface AnchorVerification extends Pick<Verification, 'result' | 'checks'> {
  verified: boolean
  payloadSha256: string
  txId: string | null
  state: AnchorState | null
}

/** Uses the policy of its log. `facts` have the anchor that the object has or would have. */
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
  const { result, checks } = verifyFacts(facts, proof, await policyOf(env))
  return {
    verified: result === 'VERIFIED',
    // Our service never returned an anchor that the log does not contain.
    result: view ? result : 'FAILED',
    payloadSha256: facts.digest,
    txId,
    state: view?.state ?? null,
    checks,
  }
}

export interface AnchorView {
  txId: string
  network: string
  env: 'sandbox' | 'production'
  state: AnchorState
  entry: string
  index: number | null
  treeSize: number | null
  proof: string[] | null
  checkpoint: string | null
  tlogProof: string | null
}

const ENVS: readonly ApiEnv[] = ['SANDBOX', 'PRODUCTION']

/** Searches both logs. `txId` has 64 hex digits. */
export async function viewAnchor(db: Knex, txId: string): Promise<AnchorView | undefined> {
  for (const env of ENVS) {
    const found = await findEntry(db, env, Buffer.from(txId, 'hex'))
    if (found) return await viewEntry(db, env, txId, found.seq, found.entry.toString('utf8'))
  }
  return undefined
}

async function viewEntry(db: Knex, env: ApiEnv, txId: string, seq: number | null, entry: string): Promise<AnchorView> {
  const view = { txId, network: 'public-registry', env: logName(env), entry }
  const [published, witnessed, external] = await Promise.all([
    latestCheckpoint(db, env),
    latestCheckpoint(db, env, 'witnessed'),
    latestCheckpoint(db, env, 'external'),
  ])
  const covers = (checkpoint: { size: number } | undefined) => seq !== null && checkpoint && seq < checkpoint.size
  // A cosigned checkpoint proves more than a newer one without cosignatures.
  const checkpoint = covers(witnessed) ? witnessed : covers(published) ? published : undefined
  if (seq === null || !checkpoint) {
    return { ...view, state: 'PENDING', index: null, treeSize: null, proof: null, checkpoint: null, tlogProof: null }
  }
  const { size } = checkpoint
  const hashes = await inclusionProof(db, env, seq, size)
  const note = fullNote(checkpoint)
  return {
    ...view,
    state: covers(external) ? 'EXTERNAL' : covers(witnessed) ? 'WITNESSED' : 'INCLUDED',
    index: seq,
    treeSize: size,
    proof: hashes.map(toBase64),
    checkpoint: note,
    tlogProof: formatTlogProof({ index: seq, hashes, checkpoint: note }),
  }
}
