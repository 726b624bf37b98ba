import { createHash, randomInt } from 'node:crypto'
import test from 'ava'
import { type FinancingKeys, searchFingerprints } from '#shared/risk/first-financing/fingerprint.ts'
import { rf1Input, rf2Input, rf3Input } from '#shared/risk/first-financing/fingerprint-input.ts'
import { ensureFinancingKeys } from '#shared/risk/first-financing/keys-store.ts'
import { ensureSandboxKey } from '#shared/risk/invoice-keys/store.ts'
import { signDemoInvoice } from '#shared/risk/registries/sandbox/demo-invoices.ts'
import { nowMicros } from '#shared/time.ts'
import { payloadSha256 } from '#shared/transparency/anchoring/leaf.ts'
import { type ApiClient, demoRequest, demoTriple, openClient, send } from '../../support/platform-client.ts'
import { openProduct, type Product } from '../../support/product.ts'

let product: Product
let base = ''
let first: ApiClient
let second: ApiClient
let signingKey = ''
let keys: FinancingKeys

test.before(async () => {
  product = await openProduct()
  base = (await product.ingress()).base
  const { db, secrets } = await product.workers(['pack-composer'])
  signingKey = await ensureSandboxKey(db, secrets)
  keys = await ensureFinancingKeys(db, secrets, 'SANDBOX')
  first = await openClient(product, base)
  second = await openClient(product, base)
})
test.after.always(() => product[Symbol.asyncDispose]())

interface Invoice {
  documentNumber: string
  totalInr: number
  documentDate: string
}

function requestWith(invoice: Invoice) {
  const { borrowerGstin: sellerGstin, buyerGstin } = demoTriple
  return { ...demoRequest, eInvoices: [signDemoInvoice({ sellerGstin, buyerGstin, ...invoice }, signingKey)] }
}

async function statusFor(client: ApiClient, invoice: Invoice): Promise<string> {
  const { status, json, text } = await client.post('/v1/po/risk-signals', requestWith(invoice))
  if (status !== 200) throw new Error(text)
  return json.signals.doubleFinancing.status
}

const documentDate = '2026-11-10'

test('a receivable presented by a second organisation is a duplicate only there', async (t) => {
  const invoice = { documentNumber: 'TWICE-7', totalInr: 118_000.5, documentDate }
  t.is(await statusFor(first, invoice), 'CLEAN')
  t.is(await statusFor(first, invoice), 'CLEAN')
  t.is(await statusFor(second, invoice), 'DUPLICATE_REGISTERED')
})

test('the securitisation API returns an anchored receivable of a pack by its number', async (t) => {
  const invoice = { documentNumber: 'SHOWN/2026/X', totalInr: 63_917.25, documentDate: '2026-10-03' }
  t.is(await statusFor(first, invoice), 'CLEAN')
  const read = (client: ApiClient) =>
    send(`${base}/v1/securitisation/receivables/${encodeURIComponent('SHOWN/2026/X')}`, {
      headers: { 'x-api-key': String(client.credentials.apiKey) },
    })
  const { status, json } = await read(first)
  t.is(status, 200)
  t.like(json, { amountInr: 63_917.25, issueDate: '2026-10-03', irnPresent: true, dueDate: null })
  t.is(json.anchor.payloadSha256, payloadSha256(json))
  t.is((await read(second)).status, 404, 'no other organisation sees it')
})

test('reports an order without a number to a second organisation only', async (t) => {
  const statusOf = async (client: ApiClient, poValue: number) => {
    const { json } = await client.post('/v1/po/risk-signals', { ...demoRequest, poValue })
    return [json.signals.doubleFinancing.status, json.signalLevel]
  }
  t.deepEqual(await statusOf(first, 777_777), ['CLEAN', 'CLEAR'])
  t.deepEqual(await statusOf(first, 777_777), ['CLEAN', 'CLEAR'])
  t.deepEqual(await statusOf(second, 777_778), ['CLEAN', 'CLEAR'], 'another value')
  t.deepEqual(await statusOf(second, 777_777), ['POSSIBLE_MATCH', 'ATTENTION'])
})

test('the later of two equal orders without numbers sees the first', async (t) => {
  for (let round = 0; round < 5; round++) {
    const body = { ...demoRequest, poValue: 600_000 + round }
    const both = await Promise.all([first, second].map((client) => client.post('/v1/po/risk-signals', body)))
    const statuses = both.map(({ json }) => json.signals.doubleFinancing.status)
    t.deepEqual(statuses.toSorted(), ['CLEAN', 'POSSIBLE_MATCH'])
  }
})

test('a receivable with other punctuation in its number is a possible match', async (t) => {
  t.is(await statusFor(first, { documentNumber: 'NEAR-12', totalInr: 70_001, documentDate }), 'CLEAN')
  t.is(await statusFor(second, { documentNumber: 'NEAR/0012', totalInr: 70_002, documentDate }), 'POSSIBLE_MATCH')
})

test('a receivable under another number with the same date and total is a possible match', async (t) => {
  t.is(await statusFor(first, { documentNumber: 'ECON-1', totalInr: 90_009, documentDate }), 'CLEAN')
  t.is(await statusFor(second, { documentNumber: 'X77', totalInr: 90_009, documentDate }), 'POSSIBLE_MATCH')
})

test('one of two concurrent presentations of a receivable is first', async (t) => {
  for (let round = 0; round < 5; round++) {
    const invoice = { documentNumber: `RACE-${round}`, totalInr: 50_000 + round * 100, documentDate }
    const statuses = await Promise.all([statusFor(first, invoice), statusFor(second, invoice)])
    t.deepEqual(statuses.toSorted(), ['CLEAN', 'DUPLICATE_REGISTERED'])
  }
})

test.serial('a dictionary of likely invoices matches no stored fingerprint without the secret key', async (t) => {
  const serial = randomInt(1, 2_000)
  await statusFor(first, { documentNumber: `INV-${serial}`, totalInr: 33_333, documentDate })
  const rows = await product.db('financing_fingerprints').select('fingerprint')
  const stored = new Set(rows.map(({ fingerprint }) => fingerprint.toString('hex')))
  const { borrowerGstin: supplierGstin, buyerGstin } = demoTriple
  const guesses = Array.from({ length: 2_000 }, (_, n) => ({
    supplierGstin,
    buyerGstin,
    documentType: 'INV' as const,
    documentNumber: `INV-${n}`,
    documentDate,
    totalPaise: 3_333_300,
  }))
  const plain = (text: string) => createHash('sha256').update(text).digest('hex')
  const foundBy = (hash: (guess: (typeof guesses)[number]) => string[]) =>
    guesses.flatMap(hash).some((h) => stored.has(h))
  t.false(foundBy((guess) => [rf1Input(guess), rf2Input(guess), rf3Input(guess)].map(plain)))
  const found = (own: FinancingKeys) =>
    foundBy((guess) => searchFingerprints(own, guess, false).map(({ value }) => value))
  const guessed = Buffer.alloc(32, 1)
  t.false(found({ order: guessed, epochs: keys.epochs.map((epoch) => ({ ...epoch, key: guessed })) }))
  // With the key, the dictionary finds the invoice, so it contains it.
  t.true(found(keys))
})

test.serial('guesses are limited, and each is a stored pack and a metered unit of its organisation', async (t) => {
  await using limited = await openProduct({ env: { PLATFORM_RATE_LIMIT_PER_MINUTE: '10' } })
  const now = nowMicros()
  const { base: address } = await limited.ingress({ now: () => now }) // the limit regains a request every six seconds
  await limited.workers(['pack-composer'])
  const guesser = await openClient(limited, address)
  const answers = await Promise.all(
    Array.from({ length: 25 }, (_, n) => guesser.post('/v1/po/risk-signals', { ...demoRequest, poNumber: `PO-${n}` })),
  )
  t.is(answers.filter(({ status }) => status === 200).length, 10)
  t.is(answers.filter(({ status, json }) => status === 429 && json.code === 'RATE_LIMITED').length, 15)
  t.is((await limited.db('packs').where({ state: 'READY' })).length, 10)
  t.is((await limited.db('usage_units').where({ family: 'risk-signals' })).length, 10)
  t.is((await limited.db('financing_fingerprints').where({ kind: 'PO1' })).length, 10)
})
