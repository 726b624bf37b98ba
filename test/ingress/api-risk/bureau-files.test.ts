import { hash } from 'node:crypto'
import test from 'ava'
import { type ApiClient, openClient } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { BUREAU_FILES, borrower, imported, SEGMENTS_HEADER, upload } from './imports-support.ts'

let product: HttpProduct
let client: ApiClient

test.before(async () => {
  product = await sharedProduct({ workers: ['tape-importer'] })
  const base = product.url
  client = await openClient(product, base)
})

const at = (style: string) => ({ path: `${BUREAU_FILES}?style=${style}`, type: 'text/plain' })

test('tagged segments become account rows without names; an invalid borrower is rejected alone', async (t) => {
  const file = `${SEGMENTS_HEADER}${borrower('ACC0001')}PN03N010199ASHA RAOES02**${borrower('ACC0002')}TRLR`
  const { json } = await imported(client, file, at('segment-tlv'))
  t.is(json.status, 'COMPLETED_WITH_ERRORS', JSON.stringify(json))
  t.like(json.counts, { accepted: 2, rejected: 1, persons: 2 })
  t.like(json.errors[0], { line: 2, column: null, code: 'SEGMENT_LENGTH' })
  const answer = await client.get(`${BUREAU_FILES}/${json.importId}/rows`)
  t.like(answer.json.rows[1], {
    line: 3,
    occurredAt: '2026-05-01',
    amounts: { principal: 118_000, outstanding: 98_000 },
    dpd: 12,
    facts: { reportedOn: '2026-06-30' },
    sourceFormat: 'segment-tlv-accounts@1',
    sourceRecordSha256: hash('sha256', borrower('ACC0002').replace('ES02**', '')),
  })
  t.false(JSON.stringify(await product.db('import_rows').select('body')).includes('ASHA'))
  t.is((await client.get(`${BUREAU_FILES}/${json.importId}/rows/1/proof`)).status, 200)
  t.is((await client.get(`/v1/colending/loan-tapes/${json.importId}`)).status, 404, 'it is no tape')
})

const base = (account: string) =>
  `${'0426'.padEnd(42)}${account.padEnd(33)}${'05012026'.padEnd(17)}${'000118000'.padEnd(31)}11`.padEnd(426)
const fixed = (count: number, ...records: string[]) =>
  [`0426${'HEADER'.padEnd(422)}`, ...records, `0426TRAILER${String(count).padStart(9, '0')}`.padEnd(426)].join('\n')

test('fixed-position records become rows and are compared with their trailer', async (t) => {
  const withJoint = `0526${base('A-2').slice(4)}${'J1'.padEnd(100)}`
  const { json } = await imported(client, fixed(2, base('A-1'), withJoint), at('fixed-record'))
  t.is(json.status, 'COMPLETED', JSON.stringify(json))
  t.like(json.counts, { accepted: 2, persons: 1 })
  for (const file of [fixed(3, base('A-1')), `0426${'HEADER'.padEnd(422)}${base('A-1')}`]) {
    const failed = await imported(client, file, at('fixed-record'))
    t.like(failed.json, { status: 'FAILED', failure: { code: 'TRAILER_MISMATCH' } })
  }
  const other = await imported(client, 'something else', at('fixed-record'))
  t.is(other.json.failure.code, 'FORMAT_UNKNOWN')
})

test('an import requires a style and a matching mapping; mappings imply no partnership', async (t) => {
  t.is((await upload(client, 'x', { path: BUREAU_FILES, type: 'text/plain' })).status, 400)
  t.is((await upload(client, 'x', { ...at('segment-tlv&mapping=in-loan-tape@1') })).status, 400)
  const { json } = await client.get('/v1/colending/mappings')
  t.regex(json.claim, /format of a payload.*no partnership/)
  const kinds = new Set<string>(json.mappings.map(({ kind }: { kind: string }) => kind))
  t.deepEqual([...kinds].sort(), ['BUREAU', 'EVENT', 'TAPE'])
  t.is(json.styles.length, 2)
  const mapping = (id: string) => json.mappings.find((one: { id: string }) => one.id === id)
  const fixed = mapping('fixed-record-accounts@1')
  t.like(fixed.layout, { recordLength: 426, lengthField: { from: 1, to: 4 }, segmentLengths: { N1: 146 } })
  const account = fixed.columns.find(({ from }: { from: string }) => from === 'base.account')
  t.deepEqual(account.position, { from: 43, to: 72 })
  t.like(mapping('segment-tlv-accounts@1').layout, { headerLength: 146, fields: [{ name: 'header.reportedOn' }] })
  t.is(mapping('in-loan-tape@1').layout, null)
  const preview = await client.post('/v1/colending/mappings/in-loan-tape@1/preview', {
    rows: [
      { loan_account_number: 'A', principal_outstanding: '1.0', days_past_due: '0', borrower_name: 'X' },
      { loan_account_number: '', principal_outstanding: 'z', days_past_due: '0' },
    ],
  })
  t.is(preview.status, 200, preview.text)
  t.true(preview.json.recognised)
  t.deepEqual(preview.json.rows[0].contract.unmapped, ['borrower_name'])
  t.is(preview.json.rows[1].contract, null)
  t.is(preview.json.rows[1].errors.length, 2)
  const wrong = await client.post('/v1/colending/mappings/in-loan-tape@1/preview', { record: {} })
  t.is(wrong.json.errors[0].path, 'rows')
})
