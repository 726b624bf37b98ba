import { readFileSync } from 'node:fs'
import test from 'ava'
import {
  amountKeyOf,
  rf1Input,
  rf2Input,
  rf3Input,
  rf4Input,
  rf4WindowInputs,
} from '#shared/risk/first-financing/fingerprint-input.ts'
import { evaluateOprf, newOprfKey, oprfReady } from '#shared/risk/first-financing/oprf.ts'

const { rfc9497, fingerprints, bucket } = JSON.parse(
  readFileSync(new URL('../../../vectors/families.json', import.meta.url), 'utf8'),
)
const key = Buffer.from(rfc9497.skSm, 'hex')

test.before(oprfReady)

const receivable = {
  supplierGstin: '29AAACR5678D1Z5',
  buyerGstin: '27AAACB1234C1ZF',
  documentType: 'INV' as const,
  documentNumber: 'INV/001',
  documentDate: '2026-05-01',
  totalPaise: 11_800_000,
}

for (const [index, { Input, Output }] of rfc9497.vectors.slice(0, 2).entries())
  test(`direct evaluation gives the output of vector ${index + 1} of RFC 9497`, (t) => {
    t.is(evaluateOprf(key, Buffer.from(Input, 'hex')).toString('hex'), Output)
  })

for (const [index, { in1, in2, in3, in4, rf1, rf2, rf3, rf4, ...changes }] of fingerprints.entries())
  test(`fingerprints of ${changes.documentNumber ?? 'INV/001'} (${index}) equal those of the vector`, (t) => {
    const identity = { ...receivable, ...changes }
    const inputs = [rf1Input(identity), rf2Input(identity), rf3Input(identity), rf4Input(identity)]
    t.deepEqual(
      inputs.map((input) => input.replaceAll('\u001f', '|')),
      [in1, in2, in3, in4],
    )
    const values = inputs.map((input) => evaluateOprf(key, Buffer.from(input)).subarray(0, 32).toString('hex'))
    t.deepEqual(values, [rf1, rf2, rf3, rf4])
  })

test('an amount is truncated to three digits', (t) => {
  for (const [rupees, text] of bucket) {
    const { exponent, mantissa } = amountKeyOf(Number(rupees) * 100 + 99)
    t.is(`${exponent}:${mantissa}`, text)
  }
})

test('a window covers three weeks and three neighbouring amounts', (t) => {
  const keysOf = (rupees: number) => [
    ...new Set(rf4WindowInputs({ ...receivable, totalPaise: rupees * 100 }).map((text) => text.split('\u001f')[4])),
  ]
  t.is(new Set(rf4WindowInputs(receivable)).size, 9)
  t.true(rf4WindowInputs(receivable).includes(rf4Input(receivable)))
  t.deepEqual(keysOf(999_999), ['3:998', '3:999', '4:100'])
  t.deepEqual(keysOf(1_000_000), ['3:999', '4:100', '4:101'])
  t.deepEqual(keysOf(100), ['0:99', '0:100', '0:101'])
})

test('new keys differ and give different evaluations', (t) => {
  const [one, two] = [newOprfKey(), newOprfKey()]
  t.is(one.publicKey.length, 32)
  t.notDeepEqual(one.privateKey, two.privateKey)
  const input = Buffer.from(rf1Input(receivable))
  t.notDeepEqual(evaluateOprf(one.privateKey, input), evaluateOprf(two.privateKey, input))
})
