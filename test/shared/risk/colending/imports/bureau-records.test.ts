import test from 'ava'
import { readBase, readBorrower, readSegments } from '#shared/risk/colending/imports/bureau-records.ts'
import { mapRow } from '#shared/risk/colending/imports/map-row.ts'
import { segmentAccounts } from '#shared/risk/colending/mappings/bureau.ts'

const BORROWER = 'PN03N010108ASHA RAOTL04T0010307ACC000708080105202612061180001305980001503012'

test('the published borrower of tagged segments is parsed', (t) => {
  t.deepEqual(
    readSegments(BORROWER)?.map(({ tag, id, fields }) => [tag, id, Object.fromEntries(fields)]),
    [
      ['PN', 'N01', { '01': 'ASHA RAO' }],
      ['TL', 'T001', { '03': 'ACC0007', '08': '01052026', '12': '118000', '13': '98000', '15': '012' }],
    ],
  )
})

test('an account becomes a row, and the person is counted without a name', (t) => {
  const record = readBorrower(BORROWER, new Map())
  t.is(record?.persons, 1)
  const cells = record?.accounts[0]
  const { loan, loanRef, errors } = mapRow(segmentAccounts, (column) => cells?.get(column))
  t.is(loanRef, 'ACC0007')
  t.deepEqual(errors, [])
  t.like(loan, { occurredAt: '2026-05-01', amounts: { principal: 118_000, outstanding: 98_000 }, dpd: 12 })
  t.false(JSON.stringify(loan).includes('ASHA'))
})

test('a field beyond the end, or a missing tag, makes a borrower invalid', (t) => {
  for (const end of ['1599012', '15', '1503', '15x3012', '=cmd()', 'TL99T001'])
    t.is(readSegments(`PN03N01${end}`), undefined, end)
  t.deepEqual(readSegments(''), [])
})

test('a base record is read by positions, and malformed segments are refused', (t) => {
  const base = `${'0426'.padEnd(42)}${'ACC-9'.padEnd(33)}${'05012026'.padEnd(17)}${'000118000'.padEnd(31)}11`
  const record = readBase(`${base.padEnd(154)}000098000${' '.repeat(18)}06302026`.padEnd(426))
  t.like(Object.fromEntries(record?.accounts[0] ?? []), {
    'base.account': 'ACC-9',
    'base.opened': '05012026',
    'base.highestCredit': '000118000',
    'base.currentBalance': '000098000',
    'base.status': '11',
    'base.informationDate': '06302026',
  })
  t.is(readBase(`${'x'.repeat(426)}${'J1'.padEnd(100)}${'K1'.padEnd(34)}`)?.persons, 1)
  for (const bad of ['x'.repeat(425), `${'x'.repeat(426)}ZZ`, `${'x'.repeat(426)}J1short`])
    t.is(readBase(bad), undefined)
})
