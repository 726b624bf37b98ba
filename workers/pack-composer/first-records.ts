import { createHash, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import type { Enqueue } from '#shared/platform/broker/outbox.ts'
import { orderFingerprint, receivableFingerprints } from '#shared/risk/first-financing/fingerprint.ts'
import {
  type Fingerprint,
  findMatches,
  recordFingerprints,
  setRecordAnchor,
} from '#shared/risk/first-financing/store.ts'
import { parsePaise } from '#shared/risk/packs/money.ts'
import type { PackRequest } from '#shared/risk/packs/request.ts'
import type { OwnRegistryFindings } from '#shared/risk/packs/signals/double-financing.ts'
import { verifyInvoiceToken } from '#shared/risk/packs/signals/e-invoice-token.ts'
import type { InvoiceKey } from '#shared/risk/packs/signals/invoice-keys.ts'
import type { PackJob } from '#shared/risk/packs/store.ts'
import { recordReceivable } from '#shared/risk/receivables/store.ts'
import { toIsoMillis } from '#shared/time.ts'
import { anchorObject } from '#shared/transparency/anchoring/store.ts'
import type { WorkerDeps } from '../define-worker.ts'

const ORDER_EVENT_TYPE = 'po.recorded'

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
  const fingerprints = [...order, ...receivables.flatMap((receivable) => receivable.fingerprints)]
  if (fingerprints.length === 0) return { status: 'ANSWERED', matches: [] }
  const record = { env: job.env, organisationId: job.organisationId, recordId: job.id, fingerprints }
  return await deps.outbox.run(async (tx: Knex.Transaction, _enqueue: Enqueue) => {
    const stored = await recordFingerprints(tx, record)
    // One that another holds already is not a first record, and nothing of it is anchored.
    const isNew = (fingerprint: Fingerprint) => stored.some(({ value }) => value === fingerprint.value)
    if (order.some(isNew)) await anchorOrder(tx, deps, job)
    for (const receivable of receivables) {
      if (isNew(receivable.exact)) await recordFirst(tx, deps, job, receivable)
    }
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
): PresentedReceivable[] {
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
    const exact = { kind: 'RF1' as const, value: rf1 }
    return [
      {
        exact,
        fingerprints: [exact, { kind: 'RF2' as const, value: rf2 }, { kind: 'RF3' as const, value: rf3 }],
        reference: document.documentNumber,
        amountInr: document.totalPaise / 100,
        issueDate: document.documentDate,
        tokenSha256: createHash('sha256').update(token).digest('hex'),
      },
    ]
  })
}

interface PresentedReceivable {
  /** the fingerprint that decides who was first */
  exact: Fingerprint
  fingerprints: Fingerprint[]
  /** the number of its document: the organisation's own name for it */
  reference: string
  amountInr: number
  issueDate: string
  tokenSha256: string
}

/**
 * A receivable that nobody presented before becomes the organisation's evidence object, anchored, which the
 * securitisation API shows (domain 10.6). What no registry has said is null.
 */
async function recordFirst(
  tx: Knex.Transaction,
  deps: FirstRecordDeps,
  job: PackJob,
  receivable: PresentedReceivable,
): Promise<void> {
  const timestamp = toIsoMillis(deps.now())
  const evidence = {
    key: 'eInvoice',
    tier: 'DOCUMENT_SIGNED',
    observedAt: timestamp,
    rawSha256: receivable.tokenSha256,
  }
  const facts = {
    poolId: null,
    fingerprintRef: receivable.exact.value,
    supplierVei: null,
    buyerVei: null,
    amountInr: receivable.amountInr,
    currency: 'INR',
    issueDate: receivable.issueDate,
    dueDate: null,
    irnPresent: true,
    acceptance: null,
    doubleFinancing: null,
    evidence: [evidence],
  }
  await recordReceivable(tx, job, receivable.reference, facts, timestamp)
}

/** The record as it is hashed: random ids only, since identities and amounts could be guessed from a bare hash. */
async function anchorOrder(tx: Knex.Transaction, deps: FirstRecordDeps, job: PackJob): Promise<void> {
  const timestamp = toIsoMillis(deps.now())
  const object = { recordId: randomUUID(), packId: job.id, eventType: ORDER_EVENT_TYPE, timestamp }
  const anchor = await anchorObject(tx, job.env, ORDER_EVENT_TYPE, timestamp, object)
  await setRecordAnchor(tx, job.id, Buffer.from(anchor.txId, 'hex'))
}
