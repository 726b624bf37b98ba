import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { anchorObject } from '#shared/anchoring/store.ts'
import { orderFingerprint, receivableFingerprints } from '#shared/first-financing/fingerprint.ts'
import { type Fingerprint, findMatches, recordFingerprints, setRecordAnchor } from '#shared/first-financing/store.ts'
import { parsePaise } from '#shared/packs/money.ts'
import type { PackRequest } from '#shared/packs/request.ts'
import type { OwnRegistryFindings } from '#shared/packs/signals/double-financing.ts'
import { verifyInvoiceToken } from '#shared/packs/signals/e-invoice-token.ts'
import type { InvoiceKey } from '#shared/packs/signals/invoice-keys.ts'
import type { PackJob } from '#shared/packs/store.ts'
import type { Enqueue } from '#shared/platform/outbox.ts'
import type { WorkerDeps } from '../define-worker.ts'

type FirstRecordDeps = Pick<WorkerDeps, 'outbox' | 'secrets' | 'now'>

/** The purpose for which the fingerprint key is derived from SECRET_KEY. */
export const FINGERPRINT_PURPOSE = 'first-financing-fingerprint-1'

/**
 * Records the purchase order and the receivables of a request, each anchored, and says who presented them before. In a
 * transaction of its own, before the pack: of two organisations that present the same thing at the same moment the
 * unique index lets one be first, and the other's pack says so. A redelivery finds its own record and adds nothing.
 */
export async function presentFirst(
  deps: FirstRecordDeps,
  job: PackJob,
  request: PackRequest,
  invoiceKeys: readonly InvoiceKey[],
): Promise<OwnRegistryFindings> {
  const secretKey = deps.secrets.derive(FINGERPRINT_PURPOSE)
  const order = orderOf(secretKey, request)
  const receivables = receivablesOf(secretKey, request, job, invoiceKeys)
  const fingerprints = [...order, ...receivables.flat()]
  if (fingerprints.length === 0) return { status: 'ANSWERED', matches: [] }
  const record = { env: job.env, organisationId: job.organisationId, recordId: job.id, fingerprints }
  return await deps.outbox.run(async (tx: Knex.Transaction, _enqueue: Enqueue) => {
    const stored = await recordFingerprints(tx, record)
    // One that another holds already is not a first record, and nothing of it is anchored.
    const isNew = (fingerprint: Fingerprint) => stored.some(({ value }) => value === fingerprint.value)
    if (order.some(isNew)) await anchorRecord(tx, deps, job, 'po.recorded')
    for (const [exact] of receivables)
      if (exact && isNew(exact)) await anchorRecord(tx, deps, job, 'receivable.recorded')
    return { status: 'ANSWERED', matches: await findMatches(tx, record) }
  })
}

/** Only an order with a number is recorded: without one, the same parties and value are no presentation of the same order. */
function orderOf(secretKey: Buffer, request: PackRequest): Fingerprint[] {
  if (request.poNumber === undefined) return []
  const poValuePaise = parsePaise(request.poValue) ?? 0
  const { po1 } = orderFingerprint(secretKey, { ...request, poValuePaise })
  return [{ kind: 'PO1', value: po1 }]
}

/** Of each signed e-invoice that the request itself brought; demo invoices and unverifiable ones are no receivables. */
function receivablesOf(
  secretKey: Buffer,
  request: PackRequest,
  job: PackJob,
  keys: readonly InvoiceKey[],
): Fingerprint[][] {
  return (request.eInvoices ?? []).flatMap((token) => {
    const { document, reason } = verifyInvoiceToken(token, { ...request, env: job.env, keys })
    if (!document || reason !== null || document.totalPaise === null) return []
    const { rf1, rf2, rf3 } = receivableFingerprints(secretKey, {
      supplierGstin: document.sellerGstin,
      buyerGstin: document.buyerGstin,
      documentType: document.documentType,
      documentNumber: document.documentNumber,
      documentDate: document.documentDate,
      totalPaise: document.totalPaise,
    })
    return [
      [
        { kind: 'RF1' as const, value: rf1 },
        { kind: 'RF2' as const, value: rf2 },
        { kind: 'RF3' as const, value: rf3 },
      ],
    ]
  })
}

/** The record as it is hashed: random ids only, since identities and amounts could be guessed from a bare hash. */
async function anchorRecord(
  tx: Knex.Transaction,
  deps: FirstRecordDeps,
  job: PackJob,
  eventType: 'po.recorded' | 'receivable.recorded',
): Promise<void> {
  const timestamp = new Date(deps.now() / 1000).toISOString()
  const object = { recordId: randomUUID(), packId: job.id, eventType, timestamp }
  const anchor = await anchorObject(tx, job.env, eventType, timestamp, object)
  await setRecordAnchor(tx, job.id, Buffer.from(anchor.txId, 'hex'))
}
