import { randomUUID } from 'node:crypto'
import test from 'ava'
import { recordReceivable } from '#shared/risk/receivables/store.ts'
import { revokeFamilies } from '#shared/tenancy/organisations/store.ts'
import { payloadSha256 } from '#shared/transparency/anchoring/leaf.ts'
import { openClient, send } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let product: HttpProduct
let base = ''
let client: Awaited<ReturnType<typeof openClient>>
let ref = ''

test.before(async () => {
  product = await sharedProduct()
  base = product.url
  client = await openClient(product, base)
  ref = `INV/${randomUUID()}`.replace('/', '-')
  await record(client, ref)
})

async function record(owner: typeof client, reference: string, supplier = '29AAACR5678D1Z5'): Promise<void> {
  const organisation = await product.db('organisations').where({ uuid: owner.credentials.organisationId }).first('id')
  const scope = { organisationId: Number(organisation.id), env: owner.credentials.env }
  await product.db.transaction((tx) =>
    recordReceivable(
      tx,
      scope,
      { supplierGstin: supplier, documentType: 'INV', documentNumber: reference, documentDate: '2026-10-01' },
      {
        poolId: null,
        fingerprintRef: null,
        supplierVei: null,
        buyerVei: null,
        amountInr: 125_000.5,
        currency: 'INR',
        issueDate: '2026-10-01',
        dueDate: '2026-12-30',
        irnPresent: true,
        acceptance: null,
        doubleFinancing: 'CLEAN',
        evidence: [],
      },
      new Date().toISOString(),
    ),
  )
}

const read = (reference: string, headers: Record<string, string>) =>
  send(`${base}/v1/securitisation/receivables/${encodeURIComponent(reference)}`, { headers })

test('a consumer reads an anchored receivable by its reference or id', async (t) => {
  const headers = { 'x-api-key': String(client.credentials.apiKey) }
  const answer = await read(ref, headers)
  t.is(answer.status, 200, answer.text)
  t.is(answer.json.anchor.payloadSha256, payloadSha256(answer.json))
  t.is((await read(answer.json.receivableId, headers)).text, answer.text)
  await record(client, ref)
  t.is((await read(ref, headers)).text, answer.text, 'what was recorded stays')
  t.is((await read('INV-none', headers)).status, 404)
})

test('two suppliers’ equal numbers are two receivables, distinguished by their ids', async (t) => {
  const headers = { 'x-api-key': String(client.credentials.apiKey) }
  await record(client, 'SAME-1')
  await record(client, 'SAME-1', '27AAACB1234C1ZF')
  const rows = await product.db('receivables').where({ ref: 'SAME-1' }).select('id')
  t.is(rows.length, 2)
  t.like((await read('SAME-1', headers)).json, { status: 409, code: 'CONFLICT', errors: [{ path: 'ref' }] })
  for (const { id } of rows) t.is((await read(id, headers)).status, 200)
})

test('a key works while its organisation has the family, and each receivable is metered once', async (t) => {
  const own = await openClient(product, base)
  const headers = { 'x-api-key': String(own.credentials.apiKey) }
  await record(own, 'METERED-1')
  await record(own, 'METERED-1')
  t.is((await read('METERED-1', headers)).status, 200)
  const organisation = await product.db('organisations').where({ uuid: own.credentials.organisationId }).first('id')
  const units = await product.db('usage_units').where({ organisation_id: organisation.id, family: 'securitisation' })
  t.is(units.length, 1)
  await revokeFamilies(product.db, Number(organisation.id), ['securitisation'])
  t.is((await read('METERED-1', headers)).status, 403)
  const without = await openClient(product, base, { families: ['kyb'] })
  t.is(without.credentials.apiKey, null, 'a key is issued only with the family')
})

test('a missing, wrong, empty or repeated key, or an access token, gets 401', async (t) => {
  const bodies = []
  for (const headers of [
    {},
    { 'x-api-key': '' },
    { 'x-api-key': 'ak_wrong' },
    { 'x-api-key': 'x'.repeat(5000) },
    { authorization: `Bearer ${client.token}` },
  ]) {
    const answer = await read(ref, headers)
    t.is(answer.status, 401, answer.text)
    bodies.push(answer.json.message)
  }
  t.is(new Set(bodies).size, 1)
})

test('another organisation’s receivable is not found', async (t) => {
  const stranger = await openClient(product, base)
  t.is((await read(ref, { 'x-api-key': String(stranger.credentials.apiKey) })).status, 404)
})

test('a known consumer without a key gets 503', async (t) => {
  const keyless = await openClient(product, base)
  const organisation = await product.db('organisations').where({ uuid: keyless.credentials.organisationId }).first('id')
  await product.db('consumer_keys').where({ organisation_id: organisation.id }).del()
  const answer = await read(ref, { authorization: `Bearer ${keyless.token}` })
  t.is(answer.status, 503, answer.text)
  t.is(answer.json.code, 'SERVICE_UNAVAILABLE')
})
