import { readFileSync } from 'node:fs'
import test from 'ava'
import type { PoolFact } from '#shared/risk/pools/facts.ts'
import { replines, stratify, weightedDays } from '#shared/risk/pools/strata.ts'

const vectors = JSON.parse(readFileSync(new URL('../../../vectors/families.json', import.meta.url), 'utf8'))

const fact = (change: Partial<PoolFact> = {}): PoolFact => ({
  paise: 11_800_000n,
  daysToDue: 30,
  ageDays: 10,
  currency: 'INR',
  irnPresent: null,
  acceptance: null,
  doubleFinancing: 'CLEAN',
  buyerVei: 'B1',
  tier: 'SELF_DECLARED',
  ...change,
})

test('weighted days and buyer shares equal the published vectors', (t) => {
  const { rows, sum, waTenorDays, top } = vectors.strat
  const facts = rows.map(([, paise, daysToDue, buyerVei]: [string, number, number, string]) =>
    fact({ paise: BigInt(paise), daysToDue, buyerVei }),
  )
  const strata = stratify(facts)
  t.is(strata.sumPaise, sum)
  t.is(strata.weightedDays, waTenorDays)
  t.deepEqual(
    strata.topBuyers.map(({ buyerVei, bps }) => [buyerVei, bps]),
    top,
  )
})

test('bands include their upper bound, and unknown values have a separate band', (t) => {
  const amounts = [1n, 10_000_000n, 10_000_001n, 100_000_000n, 100_000_001n, 1_000_000_000n, 1_000_000_001n, null]
  const days = [-5, 30, 31, 60, 61, 90, 91, 180, 181, null]
  const strata = stratify([
    ...amounts.map((paise) => fact({ paise })),
    ...days.map((daysToDue) => fact({ daysToDue, paise: null })),
  ])
  t.deepEqual(
    strata.amount.map(({ band, count, sumPaise }) => [band, count, sumPaise]),
    [
      ['UP_TO_1_LAKH', 2, '10000001'],
      ['UP_TO_10_LAKH', 2, '110000001'],
      ['UP_TO_1_CRORE', 2, '1100000001'],
      ['ABOVE_1_CRORE', 1, '1000000001'],
      ['MISSING', 11, '0'],
    ],
  )
  t.deepEqual(
    strata.daysToDue.map(({ band, count }) => [band, count]),
    [
      ['UP_TO_30', 10],
      ['31_TO_60', 2],
      ['61_TO_90', 2],
      ['91_TO_180', 2],
      ['ABOVE_180', 1],
      ['MISSING', 1],
    ],
  )
  t.is(strata.size, 18)
})

test('sums beyond the exact range of a number stay exact', (t) => {
  const facts = Array.from({ length: 50_000 }, () => fact({ paise: 999_999_999_999_999n }))
  t.is(stratify(facts).sumPaise, String(999_999_999_999_999n * 50_000n))
})

test('weighted days round half to even, and are null without data', (t) => {
  const of = (...pairs: (readonly [bigint | null, number | null])[]) =>
    weightedDays(pairs.map(([paise, daysToDue]) => ({ paise, daysToDue })))
  t.is(of([1n, 0], [1n, 1]), 0)
  t.is(of([1n, 1], [1n, 2]), 2)
  t.is(of([1n, -1], [1n, -2]), -2)
  t.is(of([5n, 10], [5n, null], [null, 90]), 10)
  t.is(of([5n, null]), null)
  t.is(of(), null)
})

test('the ten largest buyers are listed, equal ones by identifier', (t) => {
  const facts = Array.from({ length: 11 }, (_, n) => fact({ buyerVei: `B${String(n).padStart(2, '0')}`, paise: 1n }))
  const { topBuyers } = stratify([...facts, fact({ buyerVei: null, paise: 89n })])
  t.deepEqual(
    topBuyers.map(({ buyerVei }) => buyerVei),
    facts.slice(0, 10).map(({ buyerVei }) => buyerVei ?? ''),
  )
  t.is(topBuyers[0]?.bps, 100)
})

test('replines have at least two receivables; single ones are in OTHER', (t) => {
  const lines = replines([
    fact({ paise: 1n, daysToDue: 10, acceptance: 'ACCEPTED' }),
    fact({ paise: 3n, daysToDue: 20, acceptance: 'ACCEPTED' }),
    fact({ paise: 5n, daysToDue: 40 }),
    fact({ paise: 7n, daysToDue: null, acceptance: 'REJECTED' }),
    fact({ paise: 9n, daysToDue: null }),
    fact({ paise: 9n, daysToDue: null }),
  ])
  t.deepEqual(lines, [
    { daysBand: 'UP_TO_30', acceptance: 'ACCEPTED', count: 2, sumPaise: '4', weightedDays: 18 },
    { daysBand: 'MISSING', acceptance: 'MISSING', count: 2, sumPaise: '18', weightedDays: null },
    { daysBand: 'OTHER', acceptance: 'OTHER', count: 2, sumPaise: '12', weightedDays: 40 },
  ])
})
