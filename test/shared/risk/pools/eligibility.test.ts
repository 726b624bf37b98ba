import test from 'ava'
import { applyRules, combineResults, EligibilityRules, RULE_RESULTS } from '#shared/risk/pools/eligibility.ts'
import type { PoolFact } from '#shared/risk/pools/facts.ts'

const known: PoolFact = {
  paise: 11_800_050n,
  daysToDue: 30,
  ageDays: 10,
  currency: 'INR',
  irnPresent: true,
  acceptance: 'ACCEPTED',
  doubleFinancing: 'CLEAN',
  buyerVei: 'B1',
  tier: 'SELF_DECLARED',
}
const unknown: PoolFact = {
  paise: null,
  daysToDue: null,
  ageDays: null,
  currency: null,
  irnPresent: null,
  acceptance: null,
  doubleFinancing: null,
  buyerVei: null,
  tier: null,
}
const rule = (field: string, op: string, value: unknown, id = 'r') => ({ id, field, op, value })
const resultsOf = (rules: unknown, facts: readonly PoolFact[]) =>
  [...applyRules(EligibilityRules.parse(rules), facts)].map((code) => RULE_RESULTS[code])

test('each rule operator is exact at its bound', (t) => {
  for (const [field, op, value, result] of [
    ['amountInr', 'eq', 118_000.5, 'MET'],
    ['amountInr', 'le', 118_000.49, 'NOT_MET'],
    ['amountInr', 'ge', 118_000.5, 'MET'],
    ['amountInr', 'in', [1, 118_000.5], 'MET'],
    ['daysToDue', 'le', 30, 'MET'],
    ['daysToDue', 'le', 29, 'NOT_MET'],
    ['ageDays', 'ge', 11, 'NOT_MET'],
    ['ageDays', 'ne', 11, 'MET'],
    ['currency', 'eq', 'INR', 'MET'],
    ['irnPresent', 'eq', true, 'MET'],
    ['irnPresent', 'ne', true, 'NOT_MET'],
    ['acceptance', 'in', ['ACCEPTED', 'DEEMED_ACCEPTED'], 'MET'],
    ['doubleFinancing', 'ne', 'DUPLICATE_FINANCED', 'MET'],
    ['doubleFinancing', 'in', ['POSSIBLE_MATCH'], 'NOT_MET'],
  ] as const)
    t.deepEqual(resultsOf([rule(field, op, value)], [known]), [result], `${field} ${op} ${value}`)
})

test('an unknown value is MISSING for every rule', (t) => {
  for (const [field, op, value] of [
    ['amountInr', 'ge', 0],
    ['daysToDue', 'le', 1_000],
    ['ageDays', 'ge', 0],
    ['currency', 'ne', 'USD'],
    ['irnPresent', 'ne', false],
    ['acceptance', 'ne', 'REJECTED'],
    ['doubleFinancing', 'ne', 'DUPLICATE_FINANCED'],
    ['buyerShareBps', 'le', 10_000],
  ] as const)
    t.deepEqual(resultsOf([rule(field, op, value)], [unknown]), ['MISSING'], field)
})

test('the share of a buyer is compared exactly and requires all amounts', (t) => {
  // 1 of 3 is 3,333.33 basis points, which would round to 3,333.
  const facts = ['B1', 'B2', 'B3'].map((buyerVei) => ({ ...known, buyerVei, paise: 1n }))
  t.deepEqual(resultsOf([rule('buyerShareBps', 'le', 3_333)], facts), ['NOT_MET', 'NOT_MET', 'NOT_MET'])
  t.deepEqual(resultsOf([rule('buyerShareBps', 'ge', 3_333)], facts), ['MET', 'MET', 'MET'])
  t.deepEqual(resultsOf([rule('buyerShareBps', 'le', 10_000)], [...facts, unknown]), Array(4).fill('MISSING'))
})

test('combined rules are NOT_MET before they are MISSING', (t) => {
  t.is(combineResults([0, 0]), 'MET')
  t.is(combineResults([0, 2]), 'MISSING')
  t.is(combineResults([2, 1, 0]), 'NOT_MET')
})

test('invalid eligibility rules are refused', (t) => {
  for (const rules of [
    [],
    [rule('currency', 'le', 'INR')],
    [rule('irnPresent', 'ge', true)],
    [rule('amountInr', 'in', 5)],
    [rule('amountInr', 'eq', [5])],
    [rule('amountInr', 'eq', 0.001)],
    [rule('daysToDue', 'le', 1.5)],
    [rule('daysToDue', 'le', '30')],
    [rule('acceptance', 'eq', 1)],
    [rule('irnPresent', 'eq', 'true')],
    [rule('supplierGstin', 'eq', 'x')],
    [rule('currency', 'eq', 'INR'), rule('currency', 'eq', 'INR')],
    [{ ...rule('currency', 'eq', 'INR'), weight: 3 }],
    Array.from({ length: 51 }, (_, n) => rule('currency', 'eq', 'INR', `r${n}`)),
  ])
    t.false(EligibilityRules.safeParse(rules).success, JSON.stringify(rules).slice(0, 80))
})
