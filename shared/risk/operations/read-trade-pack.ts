import type { Knex } from 'knex'
import type { JsonObject } from '../../canonical/parse-json.ts'
import type { ApiEnv } from '../../environment.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import type { AnchorState } from '../../transparency/anchoring/leaf.ts'
import type { TrustPolicy } from '../../transparency/anchoring/policy.ts'
import { viewAnchor } from '../../transparency/operations/view-anchor.ts'
import { BUNDLE_TYPE, parseBundle, verifyBundle } from '../../transparency/provenance/bundle.ts'
import { writeZip } from '../../transparency/provenance/zip.ts'
import { listEvidenceKeys } from '../domain-keys/evidence-key-store.ts'
import type { Committed } from '../evidence/commitment.ts'
import type { Owner } from '../jobs/job.ts'
import { packBundle } from '../trade/export-pack.ts'
import { findDocuments, findTradePack, findVerifications, type StoredTradePack, saveProof } from '../trade/store.ts'
import type { TradeDocument } from '../trade/trade-pack.ts'

/** The bundle of a pack as JSON text; its proof is null until the log includes its record, and the same from then on. */
export async function tradeBundle(db: Knex, pack: StoredTradePack): Promise<string> {
  const proof = await proofOf(db, pack)
  return `{"mediaType":${JSON.stringify(BUNDLE_TYPE)},"envelope":${pack.envelope},"keys":[${pack.publicKey}],"record":${pack.record},"proof":${JSON.stringify(proof)}}`
}

async function proofOf(db: Knex, { id, record, proof }: StoredTradePack): Promise<string | null> {
  if (proof !== null) return proof
  // Written by ourselves.
  const { anchor } = JSON.parse(record) as { anchor: { txId: string } }
  const view = await viewAnchor(db, anchor.txId)
  return view?.tlogProof ? await saveProof(db, id, view.tlogProof) : null
}

/** A pack of the owner's as a bag; equal bytes once the log includes it. @returns undefined when there is no such pack */
export async function exportTradePack(
  db: Knex,
  secrets: Secrets,
  owner: Owner,
  id: string,
): Promise<Buffer | undefined> {
  const pack = await findTradePack(db, owner, id)
  if (!pack) return undefined
  const [bundle, documents, findings] = await Promise.all([
    tradeBundle(db, pack),
    findDocuments(db, owner, pack.documentIds),
    findVerifications(db, owner, pack.verificationIds),
  ])
  const { timestamp } = JSON.parse(pack.record) as { timestamp: string }
  const files = packBundle({
    packId: id,
    title: pack.title,
    issuedAt: timestamp,
    bundle,
    findings: findings.map(({ body }) => body),
    pdf: pack.pdf,
    documents: documents.map(({ body, sealedValues }) => ({
      document: JSON.parse(body) as TradeDocument,
      metadata: (JSON.parse(secrets.open('trade', sealedValues)) as { metadata: Committed[] }).metadata,
    })),
  })
  return await writeZip(files)
}

/** Why a bundle does not hold. */
export const BUNDLE_REASONS = ['SIGNATURE', 'KEY_UNKNOWN', 'PAYLOAD', 'RECORD_HASH', 'PROOF'] as const

export interface BundleVerification {
  valid: boolean
  reasons: (typeof BUNDLE_REASONS)[number][]
  /** how far its record is in our log; null when the log does not hold it */
  anchorState: AnchorState | null
}

/**
 * Verifies a bundle of anybody's by the keys that this environment has published; the keys in it are not read.
 * @throws AnchoringError ENVELOPE_MALFORMED
 */
export async function verifyTradeBundle(
  db: Knex,
  env: ApiEnv,
  value: JsonObject,
  policyOf: (env: ApiEnv) => Promise<TrustPolicy>,
): Promise<BundleVerification> {
  const bundle = parseBundle(value)
  const { checks, txId } = verifyBundle(bundle, await listEvidenceKeys(db, env), await policyOf(env))
  const anchor = txId === undefined ? undefined : await viewAnchor(db, txId)
  const isOurs = anchor?.env === (env === 'SANDBOX' ? 'sandbox' : 'production')
  const reasons = new Set(checks.flatMap((check) => (check.result === 'failed' ? [reasonOf(check)] : [])))
  // A record that our log does not hold was never anchored by us.
  if (!isOurs && !reasons.has('RECORD_HASH')) reasons.add('PROOF')
  return {
    valid: reasons.size === 0,
    reasons: BUNDLE_REASONS.filter((reason) => reasons.has(reason)),
    anchorState: isOurs ? anchor.state : null,
  }
}

function reasonOf({ name, code }: { name: string; code?: string }): (typeof BUNDLE_REASONS)[number] {
  if (name === 'signature') return code === 'KEY_UNKNOWN' ? 'KEY_UNKNOWN' : 'SIGNATURE'
  if (name === 'statement') return 'PAYLOAD'
  return name === 'record' || name === 'payload' || name === 'entry' ? 'RECORD_HASH' : 'PROOF'
}
