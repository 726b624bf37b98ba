import { hash } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import { NotFoundError } from '../../errors.ts'
import { type EvidenceSigner, evidenceKey, signEnvelope } from '../../transparency/provenance/dsse.ts'
import { isUuid } from '../../uuid.ts'
import { recordEvent } from '../../webhooks/events/store.ts'
import type { Committed } from '../evidence/commitment.ts'
import { anchorRecord } from '../evidence/record-store.ts'
import type { Owner } from '../jobs/job.ts'
import { recordUsage } from '../metering/store.ts'
import { chainCheck } from '../trade/checks.ts'
import type { TradePdfInput } from '../trade/pdf.ts'
import type { TradePackRequest } from '../trade/requests.ts'
import { findDocuments, findVerifications, insertTradePack } from '../trade/store.ts'
import { packStatement, type TradeDocument, type TradeFinding } from '../trade/trade-pack.ts'
import { instant, type OperationDeps } from './deps.ts'

const EVENT_TYPE = 'provenance.pack_issued'

interface IssueDeps extends OperationDeps {
  publicUrl: string
  signer: EvidenceSigner
  renderPdf(input: TradePdfInput): Promise<Buffer>
}

/** Issues a pack: its signed statement, the anchored record that names it, its summary, one unit, one event. */
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
  // Written by ourselves.
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

function refuse(what: string): { refusal: NotFoundError } {
  return { refusal: new NotFoundError(`there is no such ${what}`) }
}
