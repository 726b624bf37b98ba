import { readFileSync } from 'node:fs'
import test from 'ava'
import { type AdjustmentKind, receivableDilution, relationshipDilution } from '#shared/risk/acceptance/dilution.ts'

const vectors = JSON.parse(readFileSync(new URL('../../../vectors/families.json', import.meta.url), 'utf8'))

for (const { A, j, dilutedPaise, bps, outstanding } of vectors.receivable)
  test(`a receivable of ${A} paise with ${JSON.stringify(j)} is diluted by ${bps} basis points`, (t) => {
    const adjustments = j.map(([kind, paise]: [AdjustmentKind, number]) => ({ kind, paise: BigInt(paise) }))
    t.deepEqual(receivableDilution(BigInt(A), adjustments), {
      dilutedPaise: BigInt(dilutedPaise),
      dilutionBps: bps,
      outstandingPaise: BigInt(outstanding),
    })
  })

test('a receivable of zero has no dilution ratio', (t) => {
  t.is(receivableDilution(0n, []).dilutionBps, null)
})

const month =
  (gross: number | null, credit = 0) =>
  (index: number) =>
    gross === null
      ? { month: `m${index}`, gross: null }
      : { month: `m${index}`, gross: BigInt(Math.round(gross * 100)), credit: BigInt(Math.round(credit * 100)) }
const times = (count: number, of: ReturnType<typeof month>) => Array.from({ length: count }, () => of)
const observed = (of: readonly ReturnType<typeof month>[]) => {
  const result = relationshipDilution(of.map((make, index) => make(index + 1)))
  const codes = [...(result.isHigh ? ['CREDIT_NOTES_HIGH'] : []), ...(result.isSpike ? ['CREDIT_NOTE_SPIKE'] : [])]
  return [result.ratioBps, result.worst && `${result.worst.month}: ${result.worst.ratioBps}`, ...codes]
}

/** The table of docs/spec/evidence-families.md#dilution, in rupees. */
test('twelve months at 2 % are 200 basis points', (t) => {
  t.deepEqual(observed(times(12, month(100_000, 2_000))), [200, 'm1: 200'])
})

test('exactly 5 % is high, but one paisa less is not', (t) => {
  t.deepEqual(observed(times(12, month(100_000, 5_000))), [500, 'm1: 500', 'CREDIT_NOTES_HIGH'])
  const less = [...times(11, month(100_000, 5_000)), month(100_000, 4_999.99)]
  t.deepEqual(observed(less), [500, 'm1: 500'])
})

test('half a basis point is rounded to even', (t) => {
  const months = [...times(8, month(100_000)), ...times(3, month(0)), month(0, 1_000)]
  t.deepEqual(observed(months), [12, null])
  t.is(relationshipDilution(months.map((make, index) => make(index))).creditWithoutSales, 100_000n)
})

test('one month of 20 % among eleven months of 0 % is a spike', (t) => {
  t.deepEqual(observed([...times(11, month(100_000)), month(100_000, 20_000)]), [167, 'm12: 2000', 'CREDIT_NOTE_SPIKE'])
})

test('eight known months, or no sales, give no ratio', (t) => {
  t.deepEqual(observed([...times(8, month(100_000, 5_000)), ...times(4, month(null))]), [null, null])
  t.deepEqual(observed(times(12, month(0))), [null, null])
})
