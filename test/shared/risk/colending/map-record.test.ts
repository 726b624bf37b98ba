import test from 'ava'
import { mapRecord, recognise, type SourceRecord } from '#shared/risk/colending/map-record.ts'
import { genericEnvelope } from '#shared/risk/colending/mappings/generic.ts'
import { MAPPINGS } from '#shared/risk/colending/mappings/registry.ts'
import { type Transform, transformed } from '#shared/risk/colending/transforms.ts'

const values: [Transform, unknown, unknown][] = [
  ['money', '125000.50', 125_000.5],
  ['money', 0, 0],
  ['money', '1.005', undefined],
  ['money', '-5', undefined],
  ['money', '1e5', undefined],
  ['money', null, undefined],
  ['percent', '20', 20],
  ['percent', 100.5, undefined],
  ['integer', 90, 90],
  ['integer', '90', 90],
  ['integer', 1.5, undefined],
  ['integer', '', undefined],
  ['instant', '2026-11-21T10:00:00+05:30', '2026-11-21T04:30:00.000Z'],
  ['instant', '2026-11-21T10:00:00', undefined],
  ['instant', '2026-02-30', undefined],
  ['instant', '2026-06-31T09:00:00Z', undefined],
  ['instant', '2027-02-29T09:00:00+05:30', undefined],
  ['instant', '2028-02-29T09:00:00+05:30', '2028-02-29T03:30:00.000Z'],
  ['instant', '2026-06-30T24:30:00Z', undefined],
  ['instant', 1_795_255_200, '2026-11-21T10:00:00.000Z'],
  ['instant', 1_795_255_200_000, '2026-11-21T10:00:00.000Z'],
  ['fineract-date', '24 September 2013', '2013-09-24'],
  ['fineract-date', [2013, 9, 24], '2013-09-24'],
  ['fineract-date', '31 February 2013', undefined],
  ['fineract-date', '24 Sept 2013', undefined],
  ['text', ' L-1 ', 'L-1'],
  ['text', 42, '42'],
  ['text', '', undefined],
  ['text', {}, undefined],
]
for (const [transform, from, to] of values) {
  test(`${transform} reads ${JSON.stringify(from)} as ${JSON.stringify(to) ?? 'missing'}`, (t) => {
    t.is(transformed(transform, from), to as never)
  })
}

const source = (body: SourceRecord['body'], headers: SourceRecord['headers'] = {}): SourceRecord => ({ body, headers })

test('a record uses the first mapping that recognises it', (t) => {
  const id = (record: SourceRecord) => recognise(MAPPINGS, record)?.id
  t.is(id(source({ event: 'x', payload: {} })), 'generic-envelope@1')
  t.is(id(source({ event: 'x' })), 'generic-flat@1')
  const hook = source({ event: 'x' }, { 'x-fineract-entity': 'LOAN', 'x-fineract-action': 'CLOSE' })
  t.is(id(hook), 'fineract-hook@1')
  t.is(id(source({ other: 1 })), undefined)
})

for (const name of ['loan.disbursed', 'LOAN_DISBURSED', 'Loan Disbursed', 'loan-disbursement']) {
  test(`the event ${name} is a disbursement`, (t) => {
    const { record } = mapRecord(genericEnvelope, source({ event: name, payload: { loanId: 'L-1' } }))
    t.is(record?.eventType, 'loan.disbursed')
  })
}

test('missing values are null, and unused members are listed by name only', (t) => {
  const body = {
    event: 'repayment.posted',
    id: 'e-1',
    payload: { loanId: 'L-1', principal: 'ten', dpd: 0, note: 'private', nested: { deep: [1, 2] } },
  }
  const { record, eventId, loanRef } = mapRecord(genericEnvelope, source(body))
  t.deepEqual([eventId, loanRef], ['e-1', 'L-1'])
  t.deepEqual(record?.amounts, { principal: null, interest: null, outstanding: null })
  t.is(record?.dpd, 0)
  t.is(record?.occurredAt, null)
  t.deepEqual(record?.unmapped, ['payload.principal', 'payload.note', 'payload.nested.deep'])
})

test('a record without a loan or known event is refused with a reason', (t) => {
  t.is(mapRecord(genericEnvelope, source({ event: 'loan.closed', payload: {} })).reason, 'LOAN_MISSING')
  t.is(mapRecord(genericEnvelope, source({ event: 'hello', payload: { loanId: 'L' } })).reason, 'EVENT_UNKNOWN')
})
