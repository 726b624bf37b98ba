import { createHash, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '#shared/canonical/jcs.ts'
import type { Enqueue } from '#shared/platform/broker/outbox.ts'
import { acceptanceOf } from '#shared/risk/acceptance/store.ts'
import { cachedPerEnv } from '#shared/risk/domain-keys/cache.ts'
import { ensureKey } from '#shared/risk/domain-keys/store.ts'
import { anchorRecord } from '#shared/risk/evidence/record-store.ts'
import { checkStatus, disclosed } from '#shared/risk/first-financing/check-answer.ts'
import {
  type FinancingKeys,
  type Fingerprint,
  orderFingerprint,
  receivableFingerprints,
  searchFingerprints,
} from '#shared/risk/first-financing/fingerprint.ts'
import { type ReceivableIdentity, receivableName } from '#shared/risk/first-financing/fingerprint-input.ts'
import { ensureFinancingKeys } from '#shared/risk/first-financing/keys-store.ts'
import { REGISTERED_DAYS } from '#shared/risk/first-financing/states.ts'
import {
  type FoundMatch,
  findHolder,
  findMatches,
  recordFingerprints,
  recordParties,
  recordSighting,
  registerExact,
  setRecordAnchor,
} from '#shared/risk/first-financing/store.ts'
import { panOfGstin } from '#shared/risk/identifiers/gstin.ts'
import { veiOf } from '#shared/risk/identifiers/vei.ts'
import { notifyConflict } from '#shared/risk/operations/register-receivable.ts'
import { parsePaise } from '#shared/risk/packs/money.ts'
import type { PackRequest } from '#shared/risk/packs/request.ts'
import type { RegistryFindings } from '#shared/risk/packs/signals/double-financing.ts'
import { verifyInvoiceToken } from '#shared/risk/packs/signals/e-invoice-token.ts'
import type { InvoiceKey } from '#shared/risk/packs/signals/invoice-keys.ts'
import { insertOrderRecord, type PackJob } from '#shared/risk/packs/store.ts'
import { knownOfReceivable, recordReceivable } from '#shared/risk/receivables/store.ts'
import { toIsoMillis, toMillis } from '#shared/time.ts'
import type { WorkerDeps } from '../define-worker.ts'

const ORDER_EVENT_TYPE = 'po.recorded'
const DAY_MS = 86_400_000

type FirstRecordDeps = Pick<WorkerDeps, 'db' | 'outbox' | 'secrets' | 'now'>

/**
 * Returns a function that records the order and receivables of a pack request and finds earlier records of them. An
 * order without a number is recorded by its parties and value, as a possible match. The transaction commits before the
 * pack is composed: if two organisations present the same receivable concurrently, the unique index accepts one, and
 * the pack of the other reports it. A redelivery records nothing more.
 */
export function createFirstRecords(deps: FirstRecordDeps) {
  const keysOf = cachedPerEnv(async (env) => ({
    financing: await ensureFinancingKeys(deps.db, deps.secrets, env),
    vei: await ensureKey(deps.db, deps.secrets, env, 'vei'),
  }))
  return async (job: PackJob, request: PackRequest, invoiceKeys: readonly InvoiceKey[]): Promise<RegistryFindings> => {
    const { financing, vei } = await keysOf(job.env)
    const order = orderOf(financing, request)
    const receivables = receivablesOf(financing, request, job, invoiceKeys)
    if (!order && receivables.length === 0) return { status: 'ANSWERED', matches: [] }
    return await deps.outbox.run(async (tx, enqueue) => {
      const presenting = { tx, enqueue, deps, job, vei }
      const record = { env: job.env, organisationId: job.organisationId, recordId: job.id }
      if (order?.kind === 'PO1') await presentOrder(presenting, order)
      if (order?.kind === 'PO2') await recordParties(tx, { ...record, order }, holdingEnd(deps))
      const orderMatches = order ? await findMatches(tx, [{ ...record, fingerprints: [order] }]) : []
      // An organisation's own orders with equal parties and value are normal.
      const found = orderMatches.filter(({ ownRegistration }) => order?.kind === 'PO1' || !ownRegistration)
      for (const receivable of receivables) {
        const matches = await findMatches(tx, [{ ...record, fingerprints: receivable.search }])
        await presentReceivable(presenting, receivable, matches)
        // A concurrent transaction may have recorded it first; now its record is visible.
        found.push(...(await findMatches(tx, [{ ...record, fingerprints: receivable.search }])))
      }
      return { status: 'ANSWERED', matches: disclosed(found) }
    })
  }
}

/** Null if the e-invoices identify the request better than its parties and value. */
function orderOf(keys: FinancingKeys, request: PackRequest): Fingerprint | null {
  if (request.poNumber === undefined && request.eInvoices?.length) return null
  return orderFingerprint(keys, { ...request, poValuePaise: parsePaise(request.poValue) ?? 0 })
}

function holdingEnd({ now }: Pick<FirstRecordDeps, 'now'>): Date {
  return new Date(toMillis(now()) + REGISTERED_DAYS * DAY_MS)
}

interface PresentedReceivable {
  identity: ReceivableIdentity
  /** under the current key; `search` is under every key */
  own: Fingerprint[]
  search: Fingerprint[]
  tokenSha256: string
}

/** Omits demo invoices and unverifiable ones. */
function receivablesOf(
  keys: FinancingKeys,
  request: PackRequest,
  job: PackJob,
  invoiceKeys: readonly InvoiceKey[],
): PresentedReceivable[] {
  return (request.eInvoices ?? []).flatMap((token) => {
    const { document, reason } = verifyInvoiceToken(token, { ...request, env: job.env, keys: invoiceKeys })
    if (!document || reason !== null || document.totalPaise === null) return []
    const identity: ReceivableIdentity = {
      supplierGstin: document.sellerGstin,
      buyerGstin: document.buyerGstin,
      documentType: document.documentType,
      documentNumber: document.documentNumber,
      documentDate: document.documentDate,
      totalPaise: document.totalPaise,
    }
    return [
      {
        identity,
        own: receivableFingerprints(keys, identity),
        search: searchFingerprints(keys, identity, false),
        tokenSha256: createHash('sha256').update(token).digest('hex'),
      },
    ]
  })
}

interface Presenting {
  tx: Knex.Transaction
  enqueue: Enqueue
  deps: FirstRecordDeps
  job: PackJob
  vei: Buffer
}

/**
 * Registers the receivable for REGISTERED_DAYS if no organisation holds it
 * (docs/spec/evidence-families.md#securitisation). If another organisation holds it, notifies both once.
 */
async function presentReceivable(
  presenting: Presenting,
  receivable: PresentedReceivable,
  matches: readonly FoundMatch[],
): Promise<void> {
  const { tx, enqueue, deps, job } = presenting
  const record = { env: job.env, organisationId: job.organisationId, recordId: job.id }
  const exact = receivable.own.filter(({ kind }) => kind === 'RF1')
  const isHeld = matches.some((match) => match.class === 'EXACT')
  const holding = { state: 'REGISTERED' as const, expiresAt: holdingEnd(deps) }
  const isFirst = !isHeld && (await registerExact(tx, { ...record, fingerprints: exact }, holding))
  if (isFirst) await recordFingerprints(tx, { ...record, fingerprints: receivable.own }, holding)
  const holder = isFirst ? undefined : await findHolder(tx, job.env, receivable.search)
  const isForeign = holder !== undefined && holder.organisationId !== job.organisationId
  if (!isForeign) return await saveEvidence(presenting, receivable, matches)
  if (await recordSighting(tx, { ...record, fingerprints: exact })) {
    const owner = { organisationId: job.organisationId, env: job.env }
    await notifyConflict(tx, owner, job.dealId ?? job.id, holder, { enqueue, now: deps.now })
  }
}

async function saveEvidence(
  { tx, deps, job, vei }: Presenting,
  { identity, own, tokenSha256 }: PresentedReceivable,
  matches: readonly FoundMatch[],
): Promise<void> {
  const timestamp = toIsoMillis(deps.now())
  const owner = { organisationId: job.organisationId, env: job.env }
  const fingerprintRef = own.find(({ kind }) => kind === 'RF1')?.value ?? null
  const known = await knownOfReceivable(
    tx,
    owner,
    matches.filter(({ ownRegistration }) => ownRegistration).map(({ recordId }) => recordId),
  )
  await recordReceivable(
    tx,
    owner,
    identity,
    {
      poolId: null,
      fingerprintRef,
      supplierVei: veiOf(vei, panOfGstin(identity.supplierGstin)),
      buyerVei: veiOf(vei, panOfGstin(identity.buyerGstin)),
      amountInr: identity.totalPaise / 100,
      currency: 'INR',
      issueDate: identity.documentDate,
      dueDate: known.dueDate,
      irnPresent: true,
      acceptance: await acceptanceOf(tx, owner, receivableName(identity)),
      doubleFinancing: checkStatus(matches, true),
      evidence: [{ key: 'eInvoice', tier: 'DOCUMENT_SIGNED', observedAt: timestamp, rawSha256: tokenSha256 }],
    },
    timestamp,
  )
}

/** Identities and amounts could be guessed from their hash, so only random ids are anchored. */
async function presentOrder({ tx, deps, job }: Presenting, order: Fingerprint): Promise<void> {
  const record = { env: job.env, organisationId: job.organisationId, recordId: job.id, fingerprints: [order] }
  const stored = await recordFingerprints(tx, record, { state: 'REGISTERED', expiresAt: null })
  if (stored.length === 0) return
  const timestamp = toIsoMillis(deps.now())
  const facts = { recordId: randomUUID(), packId: job.id }
  const object = await anchorRecord(tx, job.env, ORDER_EVENT_TYPE, timestamp, facts)
  await insertOrderRecord(tx, { id: facts.recordId, packId: job.id, body: canonicalize(object) })
  await setRecordAnchor(tx, job.id, Buffer.from(object.anchor.txId, 'hex'))
}
