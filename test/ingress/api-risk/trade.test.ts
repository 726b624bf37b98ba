import { createHash } from 'node:crypto'
import test from 'ava'
import { canonicalize } from '#shared/canonical/jcs.ts'
import { payloadSha256 } from '#shared/transparency/anchoring/leaf.ts'
import { type ApiClient, openClient } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { EBRC, SHIPPING_BILL, tradeDocument } from './trade-support.ts'

let product: HttpProduct
let base = ''
let exporter: ApiClient

test.before(async () => {
  product = await sharedProduct({ workers: ['provenance-composer'] })
  base = product.url
  exporter = await openClient(product, base)
})

const resultOf = (json: { results: { key: string; result: string }[] }) =>
  Object.fromEntries(json.results.map(({ key, result }) => [key, result]))

test('a document is anchored as hashes and commitments, without content', async (t) => {
  const metadata = { invoiceNumber: 'EXP/4821907', buyer: 'Hanse Import' }
  const requested = tradeDocument({ metadata, sizeBytes: 812, mediaType: 'application/pdf', signature: 'a.b.c' })
  const made = await exporter.post('/v1/trade/documents', requested)
  t.is(made.status, 201, made.text)
  t.like(made.json, {
    sha256: requested.sha256,
    tier: 'SELF_DECLARED',
    sizeBytes: 812,
    eventType: 'trade.document_recorded',
  })
  t.is(made.json.anchor.payloadSha256, payloadSha256(made.json))
  t.notRegex(made.text, /Hanse|EXP\/|a\.b\.c/)
  const { json } = await exporter.get(`/v1/trade/documents/${made.json.documentId}`)
  t.deepEqual(json.record, made.json)
  t.is(json.signature, 'a.b.c')
  for (const [index, { name, value, salt }] of json.metadata.entries()) {
    const commitment = createHash('sha256')
      .update(Buffer.from(salt, 'hex'))
      .update(canonicalize([name, value]))
    t.is(made.json.commitments[index].commitment, commitment.digest('hex'))
  }
  const [row] = await product.db('trade_documents').where({ id: made.json.documentId })
  t.notRegex(JSON.stringify(row), /Hanse/)
})

test('the link of a certificate to a bill is SELF_DECLARED by the exporter', async (t) => {
  const made = await exporter.post('/v1/trade/ebrc/verifications', EBRC)
  t.is(made.status, 201, made.text)
  t.like(made.json, { subjectKind: 'EBRC', eventType: 'trade.verified' })
  t.deepEqual(made.json.results, [
    { key: 'ebrc.exists', result: 'MATCH', tier: 'REGISTRY_VERIFIED', detail: 'issued 2026-04-02' },
    { key: 'ebrc.remittance', result: 'MATCH', tier: 'REGISTRY_VERIFIED', detail: 'USD on 2026-04-01' },
    { key: 'ebrc.shippingBill', result: 'MATCH', tier: 'SELF_DECLARED', detail: 'matched by the exporter' },
    { key: 'ebrc.realised', result: 'MATCH', tier: 'REGISTRY_VERIFIED', detail: 'within one currency unit' },
  ])
  t.is(made.json.anchor.payloadSha256, payloadSha256(made.json))
  t.is((await exporter.get(`/v1/trade/verifications/${made.json.verificationId}`)).text, made.text)
})

test('the code of the exporter selects the sandbox scenarios', async (t) => {
  const iecOf = (digits: string) => `AAACR56${digits}D`
  for (const [path, body] of [
    ['ebrc', EBRC],
    ['shipping-bills', SHIPPING_BILL],
    ['iec', { iec: '', legalName: 'Synthetic Exports' }],
  ] as const) {
    for (const digits of ['46', '03', '12', '13']) {
      const { status, json } = await exporter.post(`/v1/trade/${path}/verifications`, { ...body, iec: iecOf(digits) })
      t.is(status, 201)
      t.true(
        json.results.every(({ result, tier }: Record<string, string>) => result === 'MISSING' && tier === 'MISSING'),
      )
    }
  }
  const off = { ...SHIPPING_BILL, iec: iecOf('47'), fobValueInr: 4_300_000 }
  t.like(resultOf((await exporter.post('/v1/trade/shipping-bills/verifications', off)).json), {
    'shippingBill.exists': 'MATCH',
    'shippingBill.fob': 'MISMATCH',
  })
  const renamed = { iec: iecOf('41'), legalName: 'Synthetic Exports' }
  t.like(resultOf((await exporter.post('/v1/trade/iec/verifications', renamed)).json), {
    'iec.status': 'MATCH',
    'iec.legalName': 'MISMATCH',
  })
  const old = await exporter.post('/v1/trade/iec/verifications', { iec: '0312345678', legalName: 'Synthetic Exports' })
  t.deepEqual(resultOf(old.json), { 'iec.status': 'MATCH', 'iec.legalName': 'MATCH' })
  const pending = await exporter.post('/v1/trade/iec/verifications', { iec: iecOf('11') }, { prefer: 'respond-async' })
  t.is(pending.status, 202)
  t.regex(pending.headers.get('location') ?? '', /^\/v1\/trade\/verifications\//)
})

const faults: [string, string, object, string, string?][] = [
  ['a code of nine digits', 'iec/verifications', { iec: '123456789' }, 'iec', 'LENGTH'],
  ['a malformed code', 'iec/verifications', { iec: 'AAAC-5678D' }, 'iec', 'FORMAT'],
  ['a certificate number too short', 'ebrc/verifications', { iec: 'AAACR5678D', brcNumber: 'X' }, 'brcNumber'],
  ['a bill of eight digits', 'shipping-bills/verifications', { ...SHIPPING_BILL, number: '12345678' }, 'number'],
  ['a malformed port', 'shipping-bills/verifications', { ...SHIPPING_BILL, portCode: 'USNYC1' }, 'portCode'],
  ['a malformed hash', 'documents', tradeDocument({ sha256: 'AB' }), 'sha256'],
  ['the bytes of a file', 'documents', { ...tradeDocument(), content: 'JVBERi0=' }, 'content', 'UNKNOWN_FIELD'],
  ['an unknown type', 'documents', tradeDocument({ type: 'SELFIE' }), 'type'],
  [
    'an Aadhaar number',
    'documents',
    tradeDocument({ metadata: { id: '999941057058' } }),
    'metadata.id',
    'AADHAAR_NOT_ACCEPTED',
  ],
  [
    '21 metadata',
    'documents',
    tradeDocument({ metadata: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`m${n}`, 'x'])) }),
    'metadata',
    'TOO_MANY',
  ],
  ['no documents', 'packs', { documents: [] }, 'documents'],
  ['101 documents', 'packs', { documents: Array.from({ length: 101 }, (_, n) => `d${n}`) }, 'documents'],
  ['a document twice', 'packs', { documents: ['a', 'a'] }, 'documents', 'DUPLICATE'],
  ['no bundle', 'packs/verify', { bundle: 1 }, 'bundle'],
  [
    'a bundle with a member that no signature covers',
    'packs/verify',
    { proof: null, note: 'x' },
    'note',
    'UNKNOWN_FIELD',
  ],
  ['a member beside a bundle', 'packs/verify', { bundle: {}, note: 'x' }, 'note', 'UNKNOWN_FIELD'],
]

for (const [what, path, body, member, code] of faults)
  test(`${what} is 400 and names ${member}`, async (t) => {
    const { status, json, text } = await exporter.post(`/v1/trade/${path}`, body)
    t.is(status, 400, text)
    t.is(json.errors[0].path, member)
    if (code !== undefined) t.is(json.errors[0].code, code)
  })

test('documents, verifications and packs are listed newest first, only to their organisation', async (t) => {
  const own = await openClient(product, base)
  const stranger = await openClient(product, base)
  const documents: string[] = []
  for (let made = 0; made < 5; made++) {
    documents.unshift((await own.post('/v1/trade/documents', tradeDocument())).json.documentId)
  }
  const verified = await own.post('/v1/trade/iec/verifications', { iec: 'AAACR5678D' })
  const packs: object[] = []
  for (const title of ['first', 'second']) {
    const { json } = await own.post('/v1/trade/packs', { documents, title })
    packs.unshift({ packId: json.packId, title, record: json.record })
  }
  const seen: string[] = []
  for (let cursor = ''; ; ) {
    const { status, json, text } = await own.get(`/v1/trade/documents?limit=2${cursor}`)
    t.is(status, 200, text)
    t.true(json.documents.length <= 2)
    seen.push(...json.documents.map(({ documentId }: { documentId: string }) => documentId))
    if (json.nextCursor === null) break
    t.notRegex(Buffer.from(json.nextCursor, 'base64url').toString('latin1'), /^\[[0-9]+\]$/)
    cursor = `&cursor=${json.nextCursor}`
  }
  t.deepEqual(seen, documents)
  t.deepEqual((await own.get('/v1/trade/packs')).json, { packs, nextCursor: null })
  t.deepEqual((await own.get('/v1/trade/verifications')).json, { verifications: [verified.json], nextCursor: null })
  for (const list of ['documents', 'verifications', 'packs']) {
    t.deepEqual((await stranger.get(`/v1/trade/${list}`)).json, { [list]: [], nextCursor: null })
    const wrong = await own.get(`/v1/trade/${list}?cursor=x`)
    t.is(wrong.status, 400)
    t.is(wrong.json.errors[0].path, 'cursor')
    t.is((await own.get(`/v1/trade/${list}?limit=0`)).status, 400)
    t.is((await own.get(`/v1/trade/${list}?surprise=1`)).status, 400)
  }
})
