import test from 'ava'
import { parse } from 'csv-parse/sync'
import { TAPE_FORMATS, type TapeFormat, tapeHead, tapePart, tapeTail } from '#shared/risk/pools/tape.ts'

const cut = { cutRecordId: 'c', poolId: 'p', cutOffDate: '2026-06-01' }
const receivable = {
  receivableId: 'r1',
  poolId: 'p',
  fingerprintRef: 'f'.repeat(64),
  supplierVei: 'S',
  buyerVei: 'B',
  amountInr: 118_000.5,
  currency: 'INR',
  issueDate: '2026-05-01',
  dueDate: null,
  irnPresent: null,
  acceptance: null,
  doubleFinancing: 'CLEAN',
  evidence: [{ key: 'receivable', tier: 'SELF_DECLARED', observedAt: 'x', rawSha256: null }],
  eventType: 'receivable.recorded',
  timestamp: 'x',
  anchor: { network: 'n', txId: 't', payloadSha256: 'h' },
}
const tapeOf = (format: TapeFormat, references: readonly string[]) =>
  tapeHead(format, cut) +
  references
    .map((reference, from) => tapePart(format, [{ reference, receivable }], { from, cutOffDate: cut.cutOffDate }))
    .join('') +
  tapeTail(format)

test('a CSV tape leaves unknown values empty and contains no formulas', (t) => {
  const hostile = ['=1+1', '+cmd|x', '-2+3', '@SUM(A1)', '-5', '+5', '"q", and\ta comma', 'plain']
  const records = parse(tapeOf('csv', hostile), { columns: true }) as Record<string, string>[]
  t.deepEqual(
    records.map(({ reference }) => reference),
    ["'=1+1", "'+cmd|x", "'-2+3", "'@SUM(A1)", '-5', '+5', '"q", and\ta comma', 'plain'],
  )
  t.like(records[0], { amountInr: '118000.5', dueDate: '', daysToDue: '', irnPresent: '', acceptance: '' })
  t.true(tapeOf('csv', ['a']).endsWith('\r\n'))
})

test('a JSON tape has null for unknown values', (t) => {
  const { receivables, ...head } = JSON.parse(tapeOf('json', ['a', 'b']))
  t.deepEqual(head, { cutId: 'c', poolId: 'p', cutOffDate: '2026-06-01' })
  t.is(receivables.length, 2)
  t.like(receivables[1], { reference: 'b', amountInr: 118_000.5, dueDate: null, daysToDue: null, irnPresent: null })
  t.deepEqual(JSON.parse(tapeOf('json', [])).receivables, [])
})

test('each ESMA line is marked partial and has codes for empty fields', (t) => {
  const [record = {}] = parse(tapeOf('esma-annex4', ['a']), { columns: true }) as Record<string, string>[]
  const { form, ...fields } = record
  t.is(form, 'ESMA Annex 4, partial')
  const filled = Object.entries(fields).filter(([, value]) => value !== 'ND5')
  t.deepEqual(Object.fromEntries(filled), {
    CRPL2: 'r1',
    CRPL3: 'r1',
    CRPL4: 'B',
    CRPL5: 'B',
    CRPL6: '2026-06-01',
    CRPL33: '2026-05-01',
    CRPL34: 'ND1',
    CRPL37: 'INR',
    CRPL38: '118000.5',
    CRPL39: 'ND1',
  })
})

test('equal members give equal tapes, computed at once or in parts', (t) => {
  for (const format of TAPE_FORMATS) {
    const members = ['a', 'b', 'c'].map((reference) => ({ reference, receivable }))
    const whole =
      tapeHead(format, cut) + tapePart(format, members, { from: 0, cutOffDate: cut.cutOffDate }) + tapeTail(format)
    t.is(whole, tapeOf(format, ['a', 'b', 'c']))
  }
})
