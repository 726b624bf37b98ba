import { createHash } from 'node:crypto'
import test from 'ava'
import { evidenceKey, signEnvelope } from '#shared/transparency/provenance/dsse.ts'
import { eventually } from '../../support/eventually.ts'
import { type ApiClient, openClient, send } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { eventsOf } from './financing-support.ts'
import { EBRC, issuePack, SHIPPING_BILL, tradeDocument } from './trade-support.ts'

let product: HttpProduct
let base = ''
let exporter: ApiClient

test.before(async () => {
  product = await sharedProduct({ workers: ['provenance-composer', 'anchor'] })
  base = product.url
  exporter = await openClient(product, base)
})

const verify = (body: unknown, client = exporter) => client.post('/v1/trade/packs/verify', body)
/** Returns the BagIt package of a pack once the log includes the pack. */
const included = (client: ApiClient, packId: string) =>
  eventually('the log includes the pack', async () => {
    const { json } = await client.get(`/v1/trade/packs/${packId}/bundle`)
    return json.proof !== null && json
  })
const bytesOf = async (path: string) => {
  const answer = await fetch(`${base}${path}`, { headers: { authorization: `Bearer ${exporter.token}` } })
  return { answer, bytes: Buffer.from(await answer.arrayBuffer()) }
}

test('a trade pack signs documents in request order and returns its bundle at once', async (t) => {
  const own = await openClient(product, base)
  const checked = await own.post('/v1/trade/ebrc/verifications', EBRC)
  const documents = [{ type: 'SHIPPING_BILL' }, { type: 'COMMERCIAL_INVOICE' }, { type: 'SHIPPING_BILL' }]
  const made = await issuePack(own, { documents, checks: [checked.json.verificationId], title: 'Hamburg, March' })
  t.is(made.status, 201, made.text)
  const { json: bundle } = await own.get(`/v1/trade/packs/${made.json.packId}/bundle`)
  const statement = JSON.parse(Buffer.from(bundle.envelope.payload, 'base64').toString())
  t.deepEqual(
    statement.subject,
    made.json.documents.map(({ documentId, sha256 }: Record<string, string>) => ({
      name: documentId,
      digest: { sha256 },
    })),
  )
  t.is(statement.predicateType, `${product.config.publicUrl}/predicates/trade-pack/v1`)
  t.deepEqual(Object.keys(statement.predicate), ['checks', 'documents', 'issuedAt', 'packId'])
  t.is(statement.predicate.checks[0].txId, checked.json.anchor.txId)
  t.is(
    bundle.record.statementSha256,
    createHash('sha256').update(Buffer.from(bundle.envelope.payload, 'base64')).digest('hex'),
  )
  t.is((await own.get(`/v1/trade/packs/${made.json.packId}`)).text, made.text)
  const { keys } = (await send(`${base}/v1/transparency/sandbox/evidence-keys`)).json
  t.true(keys.some(({ kid }: { kid: string }) => kid === bundle.envelope.signatures[0].keyid))
  t.deepEqual(await eventsOf(product, own), ['provenance.pack_issued'])
  const [event] = await product
    .db('events')
    .where({
      type: 'provenance.pack_issued',
      organisation_id: product.db('organisations').where('uuid', own.credentials.organisationId).select('id'),
    })
    .select('body')
  t.deepEqual(JSON.parse(event.body).fields, ['SHIPPING_BILL', 'COMMERCIAL_INVOICE'])
  const { usage } = (await own.get('/v1/usage')).json
  t.like(usage[0], { family: 'trade', units: 2 })
})

test('invoice and shipping bill are compared, with the tier of the weaker', async (t) => {
  const bill = await exporter.post('/v1/trade/shipping-bills/verifications', SHIPPING_BILL)
  const checks = [bill.json.verificationId]
  const chainOf = async (number: string, ids = checks, more: object[] = []) => {
    const documents = [{ metadata: { invoiceNumber: number } }, ...more]
    const { json } = await issuePack(exporter, { documents, checks: ids })
    return json.checks.find(({ key }: { key: string }) => key === 'chain.invoice')
  }
  t.like(await chainOf('exp/ 4821907'), { result: 'MATCH', tier: 'SELF_DECLARED' })
  t.like(await chainOf('EXP/1'), { result: 'MISMATCH' })
  const paper = { type: 'SHIPPING_BILL', metadata: { invoiceNumber: 'INV 7' } }
  t.like(await chainOf('INV7', [], [paper]), { result: 'MATCH', tier: 'SELF_DECLARED' })
  t.is(await chainOf('INV7', []), undefined)
})

test('documents and findings of others are 404, and so is a pack of others', async (t) => {
  const other = await openClient(product, base)
  const { json } = await issuePack(other)
  const check = await other.post('/v1/trade/iec/verifications', { iec: 'AAACR5678D' })
  const foreign = json.documents[0].documentId
  t.is((await exporter.post('/v1/trade/packs', { documents: [foreign] })).status, 404)
  const own = await exporter.post('/v1/trade/documents', tradeDocument())
  const body = { documents: [own.json.documentId], checks: [check.json.verificationId] }
  t.is((await exporter.post('/v1/trade/packs', body)).status, 404)
  for (const part of ['', '/bundle', '/export', '/pdf']) {
    t.is((await exporter.get(`/v1/trade/packs/${json.packId}${part}`)).status, 404)
  }
})

test('anyone can verify a bundle, and each damage has its reason', async (t) => {
  const { json } = await issuePack(exporter, { documents: [{}, {}] })
  const bundle = await included(exporter, json.packId)
  const stranger = await openClient(product, base)
  for (const body of [bundle, { bundle }]) {
    const found = await verify(body, stranger)
    t.like(found.json, { valid: true, reasons: [] }, found.text)
    t.true(['INCLUDED', 'WITNESSED'].includes(found.json.anchorState))
  }
  t.like((await verify({ ...bundle, proof: null })).json, { valid: true })
  const payload = Buffer.from(bundle.envelope.payload, 'base64').toString()
  const swapped = payload.replace(
    /"sha256":"./,
    (text: string) => `${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`,
  )
  const withPayload = (text: string) => ({
    ...bundle,
    envelope: { ...bundle.envelope, payload: Buffer.from(text).toString('base64') },
  })
  t.deepEqual((await verify(withPayload(swapped))).json.reasons, ['SIGNATURE', 'RECORD_HASH'])
  const theirs = { seed: Buffer.alloc(32, 7), publicKey: publicKeyOfSeed7 }
  const forged = {
    ...bundle,
    envelope: signEnvelope(Buffer.from(payload), theirs),
    keys: [evidenceKey(publicKeyOfSeed7)],
  }
  t.deepEqual((await verify(forged)).json, { valid: false, reasons: ['KEY_UNKNOWN'], anchorState: 'INCLUDED' })
  t.deepEqual((await verify(withPayload(` ${payload}`))).json.reasons, ['SIGNATURE', 'PAYLOAD', 'RECORD_HASH'])
  t.deepEqual((await verify({ ...bundle, record: { ...bundle.record, documents: 9 } })).json.reasons, ['RECORD_HASH'])
  t.deepEqual((await verify({ ...bundle, proof: bundle.proof.replace(/index \d+/, 'index 99999') })).json.reasons, [
    'PROOF',
  ])
  const live = await openClient(product, base, { env: 'PRODUCTION' })
  t.deepEqual((await verify(bundle, live)).json, { valid: false, reasons: ['KEY_UNKNOWN', 'PROOF'], anchorState: null })
})

const publicKeyOfSeed7 = Buffer.from('ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c', 'hex')

test('verifying changes nothing, and needs no idempotency key', async (t) => {
  const { json } = await issuePack(exporter)
  const { json: bundle } = await exporter.get(`/v1/trade/packs/${json.packId}/bundle`)
  const { status } = await exporter.post('/v1/trade/packs/verify', bundle, { 'x-idempotency-key': '' })
  t.is(status, 200)
})

test('the worker renders the summary PDF, with the same bytes each time', async (t) => {
  const { json } = await issuePack(exporter, {
    title: 'Zürich – März',
    documents: Array.from({ length: 40 }, () => ({})),
  })
  const first = await bytesOf(`/v1/trade/packs/${json.packId}/pdf`)
  t.is(first.answer.headers.get('content-type'), 'application/pdf')
  t.regex(first.bytes.toString('latin1'), /^%PDF-1\.7[\s\S]*%%EOF\s*$/)
  t.true(first.bytes.equals((await bytesOf(`/v1/trade/packs/${json.packId}/pdf`)).bytes))
})

test('an equal request has the same pack and one unit', async (t) => {
  const own = await openClient(product, base)
  const document = await own.post('/v1/trade/documents', tradeDocument())
  const ask = () =>
    own.post('/v1/trade/packs', { documents: [document.json.documentId] }, { 'x-idempotency-key': 'once' })
  const [first, second] = [await ask(), await ask()]
  t.is(first.text, second.text)
  t.like((await own.get('/v1/usage')).json.usage[0], { family: 'trade', units: 1 })
})
