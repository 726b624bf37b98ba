import { hash, randomBytes, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import type { Owner } from '../../jobs/job.ts'
import { commit } from '../evidence/commitment.ts'
import { anchorRecord } from '../evidence/record-store.ts'
import { recordUsage } from '../metering/store.ts'
import type { TradeCheck } from '../trade/checks.ts'
import type { DocumentRequest, TradeRequest } from '../trade/requests.ts'
import { insertDocument, insertVerification } from '../trade/store.ts'
import { instant, type OperationDeps } from './deps.ts'

const DOCUMENT_RECORDED = 'trade.document_recorded'
const VERIFIED = 'trade.verified'

/** Metadata is stored sealed, and anchored as commitments. */
export async function recordTradeDocument(
  tx: Knex.Transaction,
  owner: Owner,
  body: DocumentRequest,
  { now, secrets }: Pick<OperationDeps, 'now' | 'secrets'>,
): Promise<{ documentId: string }> {
  const documentId = randomUUID()
  const { type, sha256, signature } = body
  const { sealed, commitments } = commit(body.metadata ?? {}, randomBytes)
  const record = await anchorRecord(tx, owner.env, DOCUMENT_RECORDED, instant(now()), {
    documentId,
    type,
    sha256,
    sizeBytes: body.sizeBytes ?? null,
    mediaType: body.mediaType ?? null,
    // A signature raises no tier until the keys of issuers are trusted.
    tier: 'SELF_DECLARED',
    signatureSha256: signature === undefined ? null : hash('sha256', signature, 'hex'),
    commitments,
  })
  await insertDocument(tx, owner, {
    id: documentId,
    type,
    sha256: Buffer.from(sha256, 'hex'),
    body: canonicalize(record),
    sealedValues: secrets.seal('trade', JSON.stringify({ metadata: sealed, signature: signature ?? null })),
  })
  return record
}

/** `invoiceNumbers` are of the bill at customs; null without a bill. */
export async function completeTradeVerification(
  tx: Knex.Transaction,
  owner: Owner,
  id: string,
  found: { request: TradeRequest; results: readonly TradeCheck[]; invoiceNumbers: readonly string[] | null },
  { now, secrets }: Pick<OperationDeps, 'now' | 'secrets'>,
): Promise<object> {
  const { request, results, invoiceNumbers } = found
  const { subjectKind } = request
  const record = await anchorRecord(tx, owner.env, VERIFIED, instant(now()), {
    verificationId: id,
    subjectKind,
    results,
  })
  const body = canonicalize(record)
  const sealedValues = secrets.seal('trade', JSON.stringify({ request, invoiceNumbers }))
  await insertVerification(tx, owner, { id, subjectKind, body, sealedValues })
  await recordUsage(tx, { ...owner, family: 'trade', unitKey: `verification/${id}` })
  return record
}
