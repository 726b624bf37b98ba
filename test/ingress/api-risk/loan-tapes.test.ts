import { hash, randomUUID } from 'node:crypto'
import test from 'ava'
import { canonicalize } from '#shared/canonical/jcs.ts'
import { payloadSha256 } from '#shared/transparency/anchoring/leaf.ts'
import { leafHash, verifyInclusion } from '#shared/transparency/anchoring/merkle.ts'
import { type ApiClient, openClient } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { HEADER, imported, note, SMALL_TAPE, TAPES, upload } from './imports-support.ts'

let product: HttpProduct
let base = ''
let client: ApiClient

test.before(async () => {
  product = await sharedProduct({ workers: ['tape-importer'] })
  base = product.url
  client = await openClient(product, base)
})

test('an error in a tape names the cell without its content', async (t) => {
  const own = await openClient(product, base)
  const { status, json, text } = await imported(own, SMALL_TAPE)
  t.is(status, 200)
  t.like(json, {
    status: 'COMPLETED_WITH_ERRORS',
    mapping: 'consumer-notes-csv@1',
    sha256: hash('sha256', SMALL_TAPE),
    counts: { records: 6, accepted: 2, rejected: 1, skipped: 2 },
    errors: [{ line: 5, column: 'loan_amnt', code: 'NOT_MONEY', message: 'loan_amnt is not an amount' }],
    skipped: [
      { line: 1, reason: 'BANNER' },
      { line: 6, reason: 'TOTALS' },
    ],
  })
  t.like(json.record, { rows: 2, eventType: 'colending.import_finished' })
  t.is(json.record.anchor.payloadSha256, payloadSha256(json.record))
  t.false(text.includes('secret'))
  const folder = `${TAPES}/${json.importId}`
  const { rows } = (await own.get(`${folder}/rows`)).json
  t.is(rows.length, 2)
  t.like(rows[0], {
    eventType: 'loan.reported',
    occurredAt: '2015-12',
    amounts: { principal: 5000, interest: null, outstanding: 0 },
    facts: { interestRateBps: 1065, termMonths: 36, assetClass: null, status: 'Fully Paid', principalRepaid: 5000 },
    importId: json.importId,
    line: 3,
    tier: 'LENDER_SIDE',
    sourceFormat: 'consumer-notes-csv@1',
    sourceRecordSha256: hash('sha256', note('1001')),
  })
  t.regex(rows[0].loanRef, /^[0-9a-f]{64}$/)
  t.deepEqual((await own.get(`${folder}/errors`)).json.errors, json.errors)
  t.is(
    (await own.get(`${folder}/errors.csv`)).text,
    'line,column,code,message\r\n5,loan_amnt,NOT_MONEY,loan_amnt is not an amount\r\n',
  )
  const events = (await own.get('/v1/webhooks/events')).json.events
  t.like(events, [{ event: 'colending.import_finished', dealId: json.importId }])
  t.like((await own.get('/v1/usage')).json.usage, [{ family: 'colending', units: 1 }])
  for (const table of ['imports', 'import_rows', 'import_errors', 'import_chunks', 'events', 'outbox_messages']) {
    const stored = JSON.stringify(
      await product
        .db(table)
        .select('*')
        .catch(() => []),
    )
    t.false(stored.includes('secret-cell'), table)
  }
})

test('every row has a path to the anchored root', async (t) => {
  const lines = Array.from({ length: 1_300 }, (_, n) => note(`R-${n}`))
  const { json } = await imported(client, [HEADER, ...lines, ''].join('\n'))
  t.is(json.status, 'COMPLETED', JSON.stringify(json))
  const root = Buffer.from(json.record.root, 'hex')
  for (const n of [0, 1, 511, 512, 777, 1023, 1024, 1298, 1299]) {
    const { status, json: proof, text } = await client.get(`${TAPES}/${json.importId}/rows/${n}/proof`)
    t.is(status, 200, text)
    t.is(proof.row.line, n + 2)
    t.deepEqual(proof.record, json.record)
    const leaf = leafHash(hash('sha256', canonicalize(proof.row), 'buffer'))
    const path = proof.inclusion.path.map((node: string) => Buffer.from(node, 'hex'))
    t.true(verifyInclusion(leaf, n, 1_300, path, root), `row ${n}`)
    const other = leafHash(hash('sha256', canonicalize({ ...proof.row, dpd: 1 }), 'buffer'))
    t.false(verifyInclusion(other, n, 1_300, path, root))
  }
  t.is((await client.get(`${TAPES}/${json.importId}/rows/1300/proof`)).status, 404)
  t.is((await client.get(`${TAPES}/${json.importId}/rows/01/proof`)).status, 400)
  t.is((await client.get(`${TAPES}/not-an-id`)).status, 400)
  t.is((await client.get(`${TAPES}/${randomUUID()}`)).status, 404)
})

test('an idempotency key repeats its answer, and refuses another file', async (t) => {
  const own = await openClient(product, base)
  const key = randomUUID()
  const first = await upload(own, SMALL_TAPE, { key })
  t.is(first.status, 202)
  t.like(first.json, { status: 'RECEIVED' })
  const again = await upload(own, SMALL_TAPE, { key })
  t.is(again.text, first.text)
  t.is(again.status, 202)
  t.is(again.headers.get('idempotent-replayed'), 'true')
  const elsewhere = await upload(own, SMALL_TAPE)
  t.is(elsewhere.status, 200)
  t.is(elsewhere.json.importId, first.json.importId)
  t.is((await upload(own, `${SMALL_TAPE}\n`, { key })).status, 422)
  const { organisation_id: id } = await product.db('imports').where({ id: first.json.importId }).first()
  t.is((await product.db('imports').where({ organisation_id: id })).length, 1)
})

test('the cursor of the list of imports reveals no number', async (t) => {
  const own = await openClient(product, base)
  for (const name of ['a', 'b']) await imported(own, SMALL_TAPE.replace('1001', `1001${name}`))
  const first = (await own.get(`${TAPES}?limit=1`)).json
  t.notRegex(Buffer.from(first.nextCursor, 'base64url').toString('latin1'), /^\[?\d+\]?$/)
  const second = (await own.get(`${TAPES}?limit=1&cursor=${first.nextCursor}`)).json
  t.is(second.nextCursor, null)
})
