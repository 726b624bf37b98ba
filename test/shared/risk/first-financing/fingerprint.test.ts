import { readFileSync } from 'node:fs'
import test from 'ava'
import { fingerprint, orderFingerprint, searchFingerprints } from '#shared/risk/first-financing/fingerprint.ts'
import { rf1Input, rf2Input, rf3Input } from '#shared/risk/first-financing/fingerprint-input.ts'
import { financialYear } from '#shared/risk/identifiers/financial-year.ts'
import type { DocumentType } from '#shared/risk/identifiers/irn.ts'

interface Case {
  supplierGstin: string
  buyerGstin: string
  financialYear: string
  documentType: DocumentType
  documentNumber: string
  documentDate: string
  totalPaise: number
  rf1Input: string
  rf1HmacHex: string
  rf2Input: string
  rf2HmacHex: string
  rf3Input: string
  rf3HmacHex: string
}

// The file has a fixed shape, which JSON.parse does not know.
const { fingerprints } = JSON.parse(
  readFileSync(new URL('../../../vectors/signals.json', import.meta.url), 'utf8'),
) as {
  fingerprints: { hmacKeyHex: string; cases: Case[] }
}
const key = Buffer.from(fingerprints.hmacKeyHex, 'hex')
/** The keys of an installation with only epoch 1. */
const keys = { order: key, epochs: [{ epoch: 1, state: 'PREVIOUS' as const, key, publicKey: null }] }
const shown = (input: string) => input.replaceAll('\u001f', '\u241f')

for (const [index, row] of fingerprints.cases.entries()) {
  test(`the fingerprints of ${row.documentNumber} equal the published ones (${index})`, (t) => {
    t.is(financialYear(row.documentDate), row.financialYear)
    t.is(shown(rf1Input(row)), row.rf1Input)
    t.is(shown(rf2Input(row)), row.rf2Input)
    t.is(shown(rf3Input(row)), row.rf3Input)
    t.deepEqual(searchFingerprints(keys, row, true), [
      { epoch: 1, kind: 'RF1', value: row.rf1HmacHex },
      { epoch: 1, kind: 'RF2', value: row.rf2HmacHex },
      { epoch: 1, kind: 'RF3', value: row.rf3HmacHex },
    ])
  })
}

const order = {
  buyerGstin: '27AAACB1234C1ZF',
  borrowerGstin: '29AAACR5678D1Z5',
  subcontractorGstin: '24AAFFS4321K1ZA',
  poNumber: 'PO/2026/17',
  poValuePaise: 125_000_000,
}

test('white space and case in the number of an order do not matter', (t) => {
  const written = orderFingerprint(keys, { ...order, poNumber: ' po/2026 /17' })
  t.deepEqual(written, orderFingerprint(keys, order))
  t.is(written.kind, 'PO1')
})

test('an order is the same under other registrations of its entities', (t) => {
  const moved = { ...order, buyerGstin: '29AAACB1234C1ZB', subcontractorGstin: '07AABCT9012E2ZL' }
  t.deepEqual(orderFingerprint(keys, moved), orderFingerprint(keys, order))
})

test('an order without a number matches only orders without a number', (t) => {
  const unnumbered = orderFingerprint(keys, { ...order, poNumber: undefined })
  t.is(unnumbered.kind, 'PO2')
  t.not(unnumbered.value, orderFingerprint(keys, { ...order, poNumber: '' }).value)
})

test('different keys give different fingerprints', (t) => {
  t.not(fingerprint(key, 'x'), fingerprint(Buffer.alloc(32, 7), 'x'))
})

test('a document number cannot forge a field separator', (t) => {
  const [row] = fingerprints.cases
  t.truthy(row)
  if (row) t.is(rf1Input({ ...row, documentNumber: 'INV\u001f/001' }), rf1Input(row))
})

test('leading zeros of each group of digits are removed', (t) => {
  const [row] = fingerprints.cases
  t.truthy(row)
  if (!row) return
  const near = (documentNumber: string) => rf2Input({ ...row, documentNumber })
  t.is(near('A-10/05'), near('A/10-5'))
  t.not(near('A-10/05'), near('A-1/5'))
  t.is(near('\uff29NV-7'), near('INV0007'))
})
