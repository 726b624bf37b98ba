import { hash } from 'node:crypto'
import test from 'ava'
import { canonicalize } from '#shared/canonical/jcs.ts'
import { readCell } from '#shared/risk/colending/imports/cells.ts'
import type { CellTransform } from '#shared/risk/colending/imports/file-mapping.ts'
import { isTotals, recogniseHeader } from '#shared/risk/colending/imports/header.ts'
import { mapRow } from '#shared/risk/colending/imports/map-row.ts'
import { rowText, rowWriter } from '#shared/risk/colending/imports/row-text.ts'
import { NotTextError, Utf8Check } from '#shared/risk/colending/imports/utf8-check.ts'
import { TAPE_MAPPINGS } from '#shared/risk/colending/mappings/registry.ts'
import { consumerNotes, indianLoanTape } from '#shared/risk/colending/mappings/tapes.ts'
import { csvLine } from '#shared/risk/evidence/values.ts'
import { effort } from '../../../../support/effort.ts'
import { randomOf } from '../../../../support/random.ts'

const cells: [CellTransform, string, string | number][] = [
  ['money', '5000.0', 5000],
  ['money', '1,18,000.50', 118_000.5],
  ['money', 'five', 'NOT_MONEY'],
  ['money', '1.005', 'NOT_MONEY'],
  ['money', '-1', 'NEGATIVE'],
  ['money', '10000000000001', 'OUT_OF_RANGE'],
  ['integer', '012', 12],
  ['integer', '1.5', 'NOT_INTEGER'],
  ['integer', '-3', 'NEGATIVE'],
  ['integer', '99999999', 'OUT_OF_RANGE'],
  ['months', '36 months', 36],
  ['rate-bps', '10.65%', 1065],
  ['rate-bps', '10.655', 'NOT_INTEGER'],
  ['rate-bps', '101', 'OUT_OF_RANGE'],
  ['percent', '80.00', 80],
  ['date', 'Dec-2015', '2015-12'],
  ['date', '2015-12', '2015-12'],
  ['date', '31/12/2015', '2015-12-31'],
  ['date', '31-Dec-2015', '2015-12-31'],
  ['date', '31-02-2015', 'NOT_DATE'],
  ['date', '12.12.2015', 'NOT_DATE'],
  ['date', '1800-01-01', 'OUT_OF_RANGE'],
  ['date-ddmmyyyy', '01052026', '2026-05-01'],
  ['date-mmddyyyy', '05012026', '2026-05-01'],
  ['asset-class', 'sub standard', 'SUB-STANDARD'],
  ['asset-class', 'excellent', 'OUT_OF_RANGE'],
  ['code', 'Late (31-120 days)', 'Late (31-120 days)'],
  ['code', '=cmd|calc', 'OUT_OF_RANGE'],
]
for (const [transform, text, expected] of cells) {
  test(`the ${transform} cell ${text} is ${expected}`, (t) => {
    const result = readCell(transform, text)
    t.is('value' in result ? result.value : result.code, expected)
  })
}

test('a header is recognised by its columns, and personal ones are listed first', (t) => {
  const header = recogniseHeader(TAPE_MAPPINGS, [
    ' Loan_Account_Number ',
    'note',
    'borrower_name',
    'principal_outstanding',
    'days_past_due',
  ])
  t.is(header?.mapping.id, 'in-loan-tape@1')
  t.deepEqual(header?.unmapped, ['borrower_name', 'note'])
  t.is(recogniseHeader(TAPE_MAPPINGS, ['id', 'loan_amnt']), undefined)
  t.is(
    recogniseHeader(TAPE_MAPPINGS, ['id', 'loan_amnt', 'loan_amnt', 'int_rate', 'issue_d']),
    undefined,
    'a repeated column is ambiguous',
  )
})

test('money is read in whole groups of digits, without a decimal comma', (t) => {
  const below = randomOf(20_261_127).int
  const money = (text: string) => {
    const result = readCell('money', text)
    return 'value' in result ? result.value : result.code
  }
  for (let round = 0; round < effort(2_000, 20_000); round++) {
    const rupees = below(10 ** (1 + below(12)))
    const fraction = below(2) === 0 ? '' : `.${String(below(100)).padStart(2, '0')}`
    const expected = Number(`${rupees}${fraction}`)
    for (const locale of ['en-IN', 'en-US'])
      t.is(money(`${new Intl.NumberFormat(locale).format(rupees)}${fraction}`), expected, `${rupees} in ${locale}`)
    const digits = 1 + below(2)
    const comma = `${rupees},${String(below(10 ** digits)).padStart(digits, '0')}`
    t.is(money(comma), 'NOT_MONEY', comma)
    t.is(money(`${comma}${fraction || '.5'}`), 'NOT_MONEY', `${comma}${fraction || '.5'}`)
  }
  for (const text of ['62,50', '1,00,00', '1,2345', '1,,000', ',100', '1,000,', '12,345,67', '1.000,50'])
    t.is(money(text), 'NOT_MONEY', text)
})

test('a totals row has one filled cell or a sum label first', (t) => {
  const below = randomOf(7).int
  const spelled = (text: string) =>
    [...text].map((letter) => (below(2) === 0 ? letter.toUpperCase() : letter.toLowerCase())).join('')
  const ends = ['', ':', ' :', ' (INR)', '(in lakh):', ': (7 loans)', ' [INR]']
  for (let round = 0; round < effort(500, 5_000); round++) {
    const label = ['Total', 'Grand Total', 'Sub-total', 'Subtotal', 'Sub total', 'Grand-total'][below(6)] ?? ''
    const text = spelled(label)
    const first = `${' '.repeat(below(2))}${text}${ends[below(ends.length)]}${' '.repeat(below(2))}`
    t.true(isTotals([first, '900', '', '1200', '']), first)
    const name = [`${text} Logistics Pvt Ltd`, `${text}7`, `The ${text}`, `${text} (A) Traders`][below(4)] ?? ''
    t.false(isTotals([name, 'LN7', '700000', '0']), name)
  }
  t.true(isTotals(['', '5', '']))
  t.true(isTotals(['Total Logistics', '', '']))
  t.false(isTotals(['1', '5']))
  t.false(isTotals(['', 'Total', '900']))
})

const row = (mapping: typeof consumerNotes, values: Record<string, string>) =>
  mapRow(mapping, (column) => values[column])

test('an invalid required cell rejects the row; an optional one becomes null', (t) => {
  const good = { id: 'L-1', loan_amnt: '5000' }
  t.like(row(consumerNotes, good), { loanRef: 'L-1', errors: [], unread: [] })
  const rejected = row(consumerNotes, { ...good, loan_amnt: '' })
  t.is(rejected.loan, null)
  t.deepEqual(rejected.errors, [{ column: 'loan_amnt', code: 'REQUIRED' }])
  const kept = row(consumerNotes, { ...good, out_prncp: 'x' })
  t.is(kept.loan?.amounts.outstanding, null)
  t.deepEqual([kept.errors, kept.unread], [[{ column: 'out_prncp', code: 'NOT_MONEY' }], ['out_prncp']])
})

const facts: [string, Record<string, string>, string[]][] = [
  ['shares of 80 and 20', { lender_share_pct: '80', colender_share_pct: '20' }, []],
  ['shares of 33.33 and 66.67', { lender_share_pct: '33.33', colender_share_pct: '66.67' }, []],
  ['shares of 80 and 19.99', { lender_share_pct: '80', colender_share_pct: '19.99' }, ['SHARES_NOT_100']],
  ['a share of 9.99', { lender_share_pct: '90.01', colender_share_pct: '9.99' }, ['SHARE_BELOW_10']],
  ['a share of 10', { lender_share_pct: '90', colender_share_pct: '10' }, []],
  ['one share alone', { lender_share_pct: '80' }, []],
  ['91 days and STANDARD', { days_past_due: '91', asset_class: 'STANDARD' }, ['DPD_OUTSIDE_ASSET_CLASS']],
  ['90 days and STANDARD', { days_past_due: '90', asset_class: 'STANDARD' }, []],
  ['31 days and SMA-0', { days_past_due: '31', asset_class: 'SMA-0' }, ['DPD_OUTSIDE_ASSET_CLASS']],
  ['90 days and LOSS', { days_past_due: '90', asset_class: 'Loss' }, ['DPD_OUTSIDE_ASSET_CLASS']],
  ['no days and LOSS', { asset_class: 'Loss' }, []],
]
for (const [name, values, expected] of facts) {
  test(`a row with ${name} has the observations ${expected.join(', ') || 'none'}`, (t) => {
    const { loan } = row(indianLoanTape, { loan_account_number: 'A', principal_outstanding: '1', ...values })
    t.deepEqual(loan?.observations, expected as never)
  })
}

test('cells that a spreadsheet would execute get an apostrophe', (t) => {
  t.is(csvLine(['=1+1', '+a', '-a', '@x', '\ta', '\ra']), `'=1+1,'+a,'-a,'@x,'\ta,"'\ra"`)
  t.is(csvLine([-5, '-5.25', 'a"b', 'a,b', null]), '-5,-5.25,"a""b","a,b",')
})

test('UTF-8 is checked across pieces, and invalid text is refused with its line', (t) => {
  const bytes = Buffer.from('zeile\n₹ 5\ngrün\n𝒳\n')
  for (let size = 1; size <= bytes.length; size++) {
    const check = new Utf8Check()
    for (let at = 0; at < bytes.length; at += size) check.push(bytes.subarray(at, at + size))
    t.notThrows(() => check.end())
  }
  const bad = [Buffer.from('a\nb\nc\u0000\n'), Buffer.concat([Buffer.from('a\nb\n'), Buffer.from([0xff])])]
  for (const wrong of bad) {
    const error = t.throws(() => new Utf8Check().push(wrong), { instanceOf: NotTextError })
    t.is(error?.line, 3)
  }
  const mixed = Buffer.concat([Buffer.from('a\rb\r\nc\nd\r\n'), Buffer.from([0xff])])
  for (let size = 1; size <= mixed.length; size++) {
    const check = new Utf8Check()
    const readAll = () => {
      for (let at = 0; at < mixed.length; at += size) check.push(mixed.subarray(at, at + size))
    }
    t.is(t.throws(readAll, { instanceOf: NotTextError })?.line, 5, `pieces of ${size}`)
  }
  t.throws(() => new Utf8Check().push(Buffer.from('\uFEFFid,a\n', 'utf16le')), { instanceOf: NotTextError })
  const cut = new Utf8Check()
  cut.push(Buffer.from([0xe2, 0x82]))
  t.throws(() => cut.end(), { instanceOf: NotTextError })
})

test('a row is written as the canonical JSON of its members', (t) => {
  const receivedAt = new Date('2026-06-20T18:30:00.123Z')
  const found = { id: '9f0c2a52-3d0b-4b7e-9d57-0a4f2c8e1b33', receivedAt }
  const loanRef = 'ab'.repeat(32)
  const [full, empty] = [
    {
      loan_account_number: 'A-1',
      sanction_date: '2026-05-01',
      disbursed_amount: '1,18,000.50',
      principal_outstanding: '0',
      days_past_due: '95',
      asset_class: 'standard',
      lender_share_pct: '33.33',
      colender_share_pct: '5',
      interest_rate_pct: '10.65',
    },
    { loan_account_number: '"\\\u2028\u20b9\n', principal_outstanding: '0.1', sanction_date: 'x' },
  ].map((values) => row(indianLoanTape, values))
  for (const [mapped, unmapped] of [
    [full, []],
    [full, ['pan', 'a "quoted" column']],
    [empty, ['\u20b9']],
  ] as const) {
    if (!mapped?.loan) return t.fail('the row is rejected')
    const { unread } = mapped
    const sourceRecordSha256 = hash('sha256', 'a,b', 'hex')
    const source = { line: 7, loanRef, sourceRecordSha256 }
    const written = rowWriter(found, indianLoanTape, unmapped)({ loan: mapped.loan, ...source, unread })
    const expected = canonicalize({
      ...mapped.loan,
      ...{ importId: found.id, ...source, sourceFormat: 'in-loan-tape@1', sourceSystem: 'loan-tape' },
      contractId: JSON.parse(written.body).contractId,
      timestamp: receivedAt.toISOString(),
      unmapped: [...unmapped, ...unread],
    })
    t.is(rowText(written, unmapped), expected)
    t.deepEqual(written.hash, hash('sha256', expected, 'buffer'))
    t.regex(written.body, /"contractId":"[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}"/)
  }
})
