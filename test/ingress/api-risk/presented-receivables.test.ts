import { randomUUID } from 'node:crypto'
import test from 'ava'
import { searchFingerprints } from '#shared/risk/first-financing/fingerprint.ts'
import { ensureFinancingKeys } from '#shared/risk/first-financing/keys-store.ts'
import { payloadSha256 } from '#shared/transparency/anchoring/leaf.ts'
import type { WorkerDeps } from '../../../workers/define-worker.ts'
import { type ApiClient, demoRequest, demoTriple, openClient } from '../../support/platform-client.ts'
import { openProduct, type Product } from '../../support/product.ts'
import { check, eventsOf, receivable, register } from './financing-support.ts'

let product: Product
let base = ''
let workers: WorkerDeps
let a: ApiClient
let b: ApiClient

test.before(async () => {
  product = await openProduct({ hasRowSecurity: true })
  base = (await product.ingress()).base
  workers = await product.workers(['pack-composer', 'financing-registrar'])
  a = await openClient(product, base)
  b = await openClient(product, base)
})
test.after.always(() => product[Symbol.asyncDispose]())

const between = () =>
  receivable({ supplierGstin: demoTriple.borrowerGstin, buyerGstin: demoTriple.buyerGstin, documentDate: '2026-10-01' })

/** Has a demo e-invoice signed and presents it with a pack. */
async function present(client: ApiClient, invoice: ReturnType<typeof between>) {
  const { documentType: _type, ...fields } = invoice
  const signed = await client.post('/v1/sandbox/e-invoices', fields)
  return await client.post('/v1/po/risk-signals', { ...demoRequest, eInvoices: [signed.json.eInvoice] })
}

test('a presented receivable is reserved for a week for its organisation', async (t) => {
  const invoice = between()
  const pack = await present(a, invoice)
  t.is(pack.status, 200, pack.text)
  t.is((await check(b, invoice)).json.status, 'DUPLICATE_REGISTERED')
  t.is((await register(b, invoice)).status, 409)
  const made = await register(a, invoice)
  t.is(made.status, 201, made.text)
  t.is((await check(a, invoice)).json.status, 'CLEAN')
  const late = between()
  await present(a, late)
  const held = product.db('financing_fingerprints').where({ state: 'REGISTERED' }).whereNotNull('expires_at')
  t.is((await held.clone()).length, 4, 'RF1 to RF4 of the receivable that was not taken over')
  await held.update({ expires_at: new Date(Date.now() - 1000) })
  t.is((await check(b, late)).json.status, 'CLEAN')
  t.is((await register(b, late)).status, 201)
})

test('a pack that finds a receivable held elsewhere notifies both, once', async (t) => {
  const [one, other] = [await openClient(product, base), await openClient(product, base)]
  const invoice = between()
  await register(one, invoice)
  const pack = await present(other, invoice)
  t.is(pack.json.signals.doubleFinancing.status, 'DUPLICATE_REGISTERED')
  t.deepEqual(await eventsOf(product, one), ['first_financing.conflict', 'first_financing.registered'])
  t.deepEqual(await eventsOf(product, other), ['first_financing.conflict', 'risk_signals.pack_ready'])
})

test('a receivable with a fingerprint of an older key is still refused', async (t) => {
  const invoice = between()
  const keys = await ensureFinancingKeys(workers.db, workers.secrets, 'SANDBOX')
  const identity = { ...invoice, documentType: 'INV' as const, totalPaise: invoice.totalInr * 100 }
  const rf1 = searchFingerprints(keys, identity, false).find(({ epoch, kind }) => epoch === 1 && kind === 'RF1')
  const organisation = await product.db('organisations').where({ uuid: a.credentials.organisationId }).first('id')
  await product.db('financing_fingerprints').insert({
    env: 'SANDBOX',
    epoch: 1,
    kind: 'RF1',
    fingerprint: Buffer.from(String(rf1?.value), 'hex'),
    organisation_id: organisation.id,
    state: 'REGISTERED',
    record_id: randomUUID(),
    expires_at: new Date(Date.now() + 86_400_000),
  })
  t.is((await check(b, invoice)).json.status, 'DUPLICATE_REGISTERED')
  t.is((await register(b, invoice)).status, 409)
  t.is((await register(a, invoice)).status, 201, 'its own organisation takes it over')
})

test('an organisation reads the record of its order as anchored', async (t) => {
  const pack = await a.post('/v1/po/risk-signals', { ...demoRequest, poNumber: `PO-${randomUUID()}` })
  const path = `/v1/po/risk-signals/packs/${pack.json.packId}/order`
  const order = await a.get(path)
  t.is(order.status, 200, order.text)
  t.like(order.json, { packId: pack.json.packId, eventType: 'po.recorded' })
  t.is(order.json.anchor.payloadSha256, payloadSha256(order.json))
  t.is((await b.get(path)).status, 404)
})

test('demo e-invoices are signed in the sandbox only', async (t) => {
  const live = await openClient(product, base, { env: 'PRODUCTION' })
  const { documentType: _type, ...fields } = between()
  t.is((await live.post('/v1/sandbox/e-invoices', fields)).status, 403)
})
