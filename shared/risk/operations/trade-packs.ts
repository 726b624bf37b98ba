import { hash } from 'node:crypto'
import type { Knex } from 'knex'
import { z } from 'zod'
import { canonicalize } from '../../canonical/jcs.ts'
import type { JsonObject, JsonValue } from '../../canonical/parse-json.ts'
import type { ApiEnv } from '../../environment.ts'
import { NotFoundError, ValidationError } from '../../errors.ts'
import type { Owner } from '../../jobs/job.ts'
import { parseWith } from '../../parse-with.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { AnchoringError } from '../../transparency/anchoring/anchoring-error.ts'
import type { AnchorState } from '../../transparency/anchoring/leaf.ts'
import type { TrustPolicy } from '../../transparency/anchoring/policy.ts'
import { viewAnchor } from '../../transparency/operations/anchors.ts'
import { BUNDLE_TYPE, parseBundle, verifyBundle } from '../../transparency/provenance/bundle.ts'
import { type EvidenceSigner, evidenceKey, signEnvelope } from '../../transparency/provenance/dsse.ts'
import { writeZip } from '../../transparency/provenance/zip.ts'
import { isUuid } from '../../uuid.ts'
import { recordEvent } from '../../webhooks/events/store.ts'
import { listEvidenceKeys } from '../domain-keys/evidence-key-store.ts'
import type { Committed } from '../evidence/commitment.ts'
import { anchorRecord } from '../evidence/record-store.ts'
import { recordUsage } from '../metering/store.ts'
import { BundleSchema } from '../trade/bundle-schema.ts'
import { chainCheck } from '../trade/checks.ts'
import { packBundle } from '../trade/export-pack.ts'
import type { TradePdfInput } from '../trade/pdf.ts'
import type { TradePackRequest } from '../trade/requests.ts'
import {
  findDocuments,
  findTradePack,
  findVerifications,
  insertTradePack,
  type StoredTradePack,
  saveProof,
} from '../trade/store.ts'
import { packStatement, type TradeDocument, type TradeFinding } from '../trade/trade-pack.ts'
import { instant, type OperationDeps } from './deps.ts'

const EVENT_TYPE = 'provenance.pack_issued'

interface IssueDeps extends OperationDeps {
  publicUrl: string
  signer: EvidenceSigner
  renderPdf(input: TradePdfInput): Promise<Buffer>
}

/** Stores statement, anchored record, summary, one unit and one event. */
export async function issueTradePack(
  tx: Knex.Transaction,
  owner: Owner,
  packId: string,
  request: TradePackRequest,
  deps: IssueDeps,
): Promise<{ pack: object } | { refusal: NotFoundError }> {
  const { publicUrl, signer, secrets } = deps
  const found = await findParts(tx, owner, request, secrets)
  if ('refusal' in found) return found
  const { documents, findings, chain } = found
  const issuedAt = instant(deps.now())
  const statement = packStatement({ packId, issuedAt, publicUrl, documents, findings, chain })
  const statementSha256 = hash('sha256', statement, 'hex')
  const record = await anchorRecord(tx, owner.env, EVENT_TYPE, issuedAt, {
    packId,
    statementSha256,
    documents: documents.length,
    checks: findings.length,
  })
  const title = request.title ?? null
  const { txId } = record.anchor
  const { env } = owner
  const pdf = await deps.renderPdf({ packId, title, issuedAt, env, statementSha256, txId, documents, findings, chain })
  await insertTradePack(tx, owner, {
    id: packId,
    title,
    envelope: canonicalize(signEnvelope(statement, signer)),
    record: canonicalize(record),
    publicKey: canonicalize(evidenceKey(signer.publicKey)),
    documentIds: documents.map(({ documentId }) => documentId),
    verificationIds: findings.map(({ verificationId }) => verificationId),
    pdf,
  })
  await recordUsage(tx, { ...owner, family: 'trade', unitKey: `pack/${packId}` })
  await recordEvent(tx, deps.enqueue, {
    env,
    organisationId: owner.organisationId,
    type: EVENT_TYPE,
    dealId: packId,
    fields: [...new Set(documents.map(({ type }) => type))],
    occurredAt: issuedAt,
  })
  return {
    pack: {
      packId,
      title,
      documents: documents.map(({ documentId, type, sha256, tier }) => ({ documentId, type, sha256, tier })),
      checks: [...findings.flatMap(({ results }) => results), ...(chain ? [chain] : [])],
      record,
    },
  }
}

async function findParts(tx: Knex, owner: Owner, request: TradePackRequest, secrets: OperationDeps['secrets']) {
  const requested = { documents: request.documents.map(lower), checks: (request.checks ?? []).map(lower) }
  const documents = await findDocuments(tx, owner, requested.documents.filter(isUuid))
  const verifications = await findVerifications(tx, owner, requested.checks.filter(isUuid))
  if (documents.length < requested.documents.length) return refuse('document')
  if (verifications.length < requested.checks.length) return refuse('verification')
  const parts = documents.map(({ body }) => JSON.parse(body) as TradeDocument)
  const chainDocuments = documents.map(({ sealedValues }, index) => {
    const { metadata } = JSON.parse(secrets.open('trade', sealedValues)) as { metadata: Committed[] }
    const number = metadata.find(({ name }) => name === 'invoiceNumber')?.value ?? null
    return { type: parts[index]?.type ?? '', tier: parts[index]?.tier ?? 'MISSING', invoiceNumber: number }
  })
  const customs = verifications.flatMap(({ sealedValues }) => {
    const { invoiceNumbers } = JSON.parse(secrets.open('trade', sealedValues)) as { invoiceNumbers: string[] | null }
    return invoiceNumbers === null ? [] : [invoiceNumbers]
  })
  return {
    documents: parts,
    findings: verifications.map(({ body }) => JSON.parse(body) as TradeFinding),
    chain: chainCheck(chainDocuments, customs.length === 0 ? null : customs.flat()),
  }
}

function lower(id: string): string {
  return id.toLowerCase()
}

function refuse(kind: string): { refusal: NotFoundError } {
  return { refusal: new NotFoundError(`${kind} not found`) }
}

/** JSON text; its proof is null until the log includes the pack. */
export async function tradeBundle(db: Knex, pack: StoredTradePack): Promise<string> {
  const proof = await proofOf(db, pack)
  return `{"mediaType":${JSON.stringify(BUNDLE_TYPE)},"envelope":${pack.envelope},"keys":[${pack.publicKey}],"record":${pack.record},"proof":${JSON.stringify(proof)}}`
}

async function proofOf(db: Knex, { id, record, proof }: StoredTradePack): Promise<string | null> {
  if (proof !== null) return proof
  const { anchor } = JSON.parse(record) as { anchor: { txId: string } }
  const view = await viewAnchor(db, anchor.txId)
  return view?.tlogProof ? await saveProof(db, id, view.tlogProof) : null
}

/** The bytes are constant once logged; undefined for another owner. */
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

const BUNDLE_REASONS = ['SIGNATURE', 'KEY_UNKNOWN', 'PAYLOAD', 'RECORD_HASH', 'PROOF'] as const

export interface BundleVerification {
  valid: boolean
  reasons: (typeof BUNDLE_REASONS)[number][]
  /** null when our log does not contain it */
  anchorState: AnchorState | null
}

/**
 * Verifies a bundle of any origin by the keys that this environment has published; the keys in it are not read.
 * @throws AnchoringError ENVELOPE_MALFORMED
 */
async function verifyMembers(
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
  // We never anchored a record that our log does not contain.
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

export const BundleVerificationSchema = z
  .object({
    valid: z.boolean(),
    reasons: z.array(z.enum(BUNDLE_REASONS)),
    anchorState: z.enum(['PENDING', 'INCLUDED', 'WITNESSED', 'EXTERNAL']).nullable(),
  })
  .meta({ id: 'BundleVerification' })

/** Refuses other members, because the signature does not cover them. */
const BundleMembers = z.strictObject(
  Object.fromEntries(Object.keys(BundleSchema.shape).map((name) => [name, z.unknown().optional()])),
)

/** Also accepts a member `bundle`. Uses published keys of this environment. @throws ValidationError */
export async function verifyTradeBundle(
  db: Knex,
  env: ApiEnv,
  body: JsonValue,
  policyOf: (env: ApiEnv) => Promise<TrustPolicy>,
): Promise<BundleVerification> {
  const isWrapped = isObject(body) && body.bundle !== undefined
  if (isWrapped) parseWith(z.strictObject({ bundle: z.unknown() }), body)
  const given = isWrapped ? body.bundle : body
  if (isObject(given)) parseWith(BundleMembers, given, isWrapped ? 'the bundle' : 'the body')
  try {
    if (!isObject(given)) throw new AnchoringError('ENVELOPE_MALFORMED', 'the bundle must be a JSON object')
    return await verifyMembers(db, env, given, policyOf)
  } catch (error) {
    if (!(error instanceof AnchoringError) || error.code !== 'ENVELOPE_MALFORMED') throw error
    throw new ValidationError(error.message, [{ path: 'bundle', code: 'TYPE', message: error.message }])
  }
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
