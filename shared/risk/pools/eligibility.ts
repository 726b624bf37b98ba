import { z } from 'zod'
import type { FieldCode } from '../../field-codes.ts'
import { rule } from '../../validation.ts'
import { line } from '../evidence/values.ts'
import { parsePaise } from '../packs/money.ts'
import type { PoolFact } from './facts.ts'
import { buyerSums, sumOf } from './strata.ts'

export const RULE_RESULTS = ['MET', 'NOT_MET', 'MISSING'] as const
export type RuleResult = (typeof RULE_RESULTS)[number]

const MAX_RULES = 50
const MAX_LIST = 100
const NUMBERS = ['amountInr', 'daysToDue', 'ageDays', 'buyerShareBps'] as const
const TEXTS = ['currency', 'acceptance', 'doubleFinancing'] as const

const Value = z.union([z.number(), z.boolean(), line(40)])

/** A consumer's own rule; the product provides facts and has no rules. */
const EligibilityRule = z
  .strictObject({
    id: line(40),
    field: z.enum([...NUMBERS, ...TEXTS, 'irnPresent']),
    op: z.enum(['eq', 'ne', 'in', 'le', 'ge']),
    value: z.union([Value, z.array(Value).min(1).max(MAX_LIST)]),
  })
  .superRefine(({ field, op, value }, ctx) => {
    const refuse = (path: string, code: FieldCode, message: string) =>
      ctx.addIssue({ code: 'custom', path: [path], ...rule(code, message) })
    if ((op === 'le' || op === 'ge') && !isNumeric(field))
      refuse('op', 'FORMAT', `must be eq, ne or in, because ${field} has no order`)
    if ((op === 'in') !== Array.isArray(value))
      refuse('value', 'FORMAT', 'must be an array if op is in, and a single value otherwise')
    else if (![value].flat().every((one) => fits(field, one)))
      refuse('value', 'FORMAT', `must be of the type of ${field}`)
  })
  .meta({ id: 'EligibilityRule' })

export type EligibilityRule = z.output<typeof EligibilityRule>
type Scalar = z.output<typeof Value>

export const EligibilityRules = z
  .array(EligibilityRule)
  .min(1)
  .max(MAX_RULES)
  .superRefine((rules, ctx) => {
    const ids = rules.map(({ id }) => id)
    const at = ids.findIndex((id, index) => ids.indexOf(id) < index)
    if (at >= 0) {
      const message = 'must differ from the ids of the other rules'
      ctx.addIssue({ code: 'custom', path: [at, 'id'], ...rule('DUPLICATE', message) })
    }
  })

function isNumeric(field: string): boolean {
  return NUMBERS.some((name) => name === field)
}

function fits(field: EligibilityRule['field'], value: Scalar): boolean {
  if (field === 'irnPresent') return typeof value === 'boolean'
  if (!isNumeric(field)) return typeof value === 'string'
  if (typeof value !== 'number') return false
  return field === 'amountInr' ? parsePaise(value) !== undefined : Number.isSafeInteger(value)
}

/** Returns one byte per receivable and rule, an index of `RULE_RESULTS`. Receivables are in pool order. */
export function applyRules(rules: readonly EligibilityRule[], facts: readonly PoolFact[]): Uint8Array {
  const shares = { of: buyerSums(facts), total: facts.some(({ paise }) => paise === null) ? null : sumOf(facts) }
  const results = new Uint8Array(rules.length * facts.length)
  let at = 0
  for (const fact of facts) {
    for (const rule of rules) results[at++] = RULE_RESULTS.indexOf(applyRule(rule, fact, shares))
  }
  return results
}

/** Returns NOT_MET if any result is NOT_MET, otherwise MISSING if any is MISSING. */
export function combineResults(results: Iterable<number>): RuleResult {
  const seen = new Set([...results].map((code) => RULE_RESULTS[code]))
  return seen.has('NOT_MET') ? 'NOT_MET' : seen.has('MISSING') ? 'MISSING' : 'MET'
}

interface Shares {
  of: ReadonlyMap<string, bigint>
  /** null when an amount is missing, because then every share is unknown */
  total: bigint | null
}

function applyRule({ field, op, value }: EligibilityRule, fact: PoolFact, shares: Shares): RuleResult {
  const compare = comparison(field, fact, shares)
  if (compare === null) return 'MISSING'
  const values = [value].flat()
  const isMet =
    op === 'le' || op === 'ge'
      ? values.every((one) => (op === 'le' ? compare(one) <= 0 : compare(one) >= 0))
      : values.some((one) => compare(one) === 0) !== (op === 'ne')
  return isMet ? 'MET' : 'NOT_MET'
}

/** Null when a value is missing. Compares shares without rounding. */
function comparison(
  field: EligibilityRule['field'],
  fact: PoolFact,
  { of, total }: Shares,
): ((value: Scalar) => number) | null {
  if (field === 'buyerShareBps') {
    const sum = fact.buyerVei === null ? undefined : of.get(fact.buyerVei)
    if (sum === undefined || total === null) return null
    return (bps) => signOf(sum * 10_000n - BigInt(Number(bps)) * total)
  }
  if (field === 'amountInr') {
    const { paise } = fact
    return paise === null ? null : (inr) => signOf(paise - BigInt(parsePaise(Number(inr)) ?? 0))
  }
  const actual = fact[field]
  if (actual === null) return null
  return typeof actual === 'number' ? (value) => actual - Number(value) : (value) => (actual === value ? 0 : 1)
}

function signOf(value: bigint): number {
  return value === 0n ? 0 : value < 0n ? -1 : 1
}
