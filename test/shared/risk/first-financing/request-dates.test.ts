import test from 'ava'
import type { z } from 'zod'
import {
  AbsenceBody,
  AcceptBody,
  BlindRegistrationBody,
  CheckBody,
  DisputeRequestBody,
  MoveBody,
  RegistrationRequestBody,
} from '#shared/risk/first-financing/requests.ts'
import { addDays, indianDay } from '#shared/risk/packs/money.ts'
import { CutBody, PoolItemsBody } from '#shared/risk/pools/requests.ts'
import { effort } from '../../../support/effort.ts'
import { randomOf } from '../../../support/random.ts'

const today = indianDay(Date.now())
const GST_BEGAN = '2017-07-01'

const fields = {
  supplierGstin: '29AAACR5678D1Z5',
  buyerGstin: '27AAACB1234C1ZF',
  documentType: 'INV',
  documentNumber: 'EX/1',
  documentDate: '2026-05-20',
}
const receivable = { ...fields, totalInr: 40_000 }
const item = { ...fields, receivableId: 'R-1', amountInr: 40_000 }
const hex = 'a'.repeat(64)

/** Returns the paths of the issues in a body. */
const refused = (schema: z.ZodType, body: object) =>
  (schema.safeParse(body).error?.issues ?? []).map(({ path }) => path.join('.'))

const withDocumentDate: [string, (documentDate: string) => [z.ZodType, object], string][] = [
  ['check', (documentDate) => [CheckBody, { ...receivable, documentDate }], 'documentDate'],
  ['registration', (documentDate) => [RegistrationRequestBody, { ...receivable, documentDate }], 'documentDate'],
  [
    'dispute',
    (documentDate) => [DisputeRequestBody, { reason: 'paid', receivable: { ...receivable, documentDate } }],
    'receivable.documentDate',
  ],
  [
    'transfer',
    (documentDate) => [AcceptBody, { transferToken: 'A'.repeat(43), receivable: { ...receivable, documentDate } }],
    'receivable.documentDate',
  ],
  [
    'proof of absence',
    (documentDate) => [AbsenceBody, { receivable: { ...receivable, documentDate } }],
    'receivable.documentDate',
  ],
  [
    'item of a pool',
    (documentDate) => [PoolItemsBody, { receivables: [{ ...item, documentDate }] }],
    'receivables.0.documentDate',
  ],
  ['financing', (financedOn) => [MoveBody, { financedOn }], 'financedOn'],
  ['cut', (cutOffDate) => [CutBody, { cutOffDate }], 'cutOffDate'],
]

for (const [request, bodyOf, path] of withDocumentDate)
  test(`the date of a ${request} must lie between the beginning of GST and today`, (t) => {
    for (const day of [GST_BEGAN, today]) t.deepEqual(refused(...bodyOf(day)), [], day)
    for (const day of [addDays(GST_BEGAN, -1), addDays(today, 1), '2099-01-01', '2026-02-30'])
      t.deepEqual(refused(...bodyOf(day)), [path], day)
  })

test('a due date must lie between the document date and ten years later', (t) => {
  const below = randomOf(7).int
  for (let round = 0; round < effort(300, 5_000); round++) {
    const documentDate = addDays(GST_BEGAN, below(3_000))
    const tenYears = `${Number(documentDate.slice(0, 4)) + 10}${documentDate.slice(4)}`
    const near = below(2) === 0 ? documentDate : `${tenYears.slice(0, 8)}15`
    const dueDate = addDays(near, below(41) - 20)
    const isGood = dueDate >= documentDate && dueDate <= tenYears
    const registration = refused(RegistrationRequestBody, { ...receivable, documentDate, dueDate })
    t.deepEqual(registration, isGood ? [] : ['dueDate'], `${documentDate} due ${dueDate}`)
    const pool = refused(PoolItemsBody, { receivables: [{ ...item, documentDate, dueDate }] })
    t.deepEqual(pool, isGood ? [] : ['receivables.0.dueDate'], `${documentDate} due ${dueDate}`)
  }
})

test('a due date beside fingerprints must lie within ten years from today', (t) => {
  const blind = { fingerprints: [{ epoch: 2, rf1: hex, rf2: hex, rf3: hex }] }
  const dueOn = (dueDate: string) => refused(BlindRegistrationBody, { ...blind, dueDate })
  t.deepEqual(dueOn(addDays(today, 3_600)), [])
  t.deepEqual(dueOn(GST_BEGAN), [])
  for (const day of [addDays(today, 3_700), '9999-12-31', addDays(GST_BEGAN, -1)]) t.deepEqual(dueOn(day), ['dueDate'])
})

test('a financed amount has at most two decimals', (t) => {
  t.deepEqual(refused(MoveBody, { financedAmountInr: 1.01 }), [])
  for (const financedAmountInr of [1.001, 0, -1, 1e13 + 1])
    t.deepEqual(refused(MoveBody, { financedAmountInr }), ['financedAmountInr'])
})
