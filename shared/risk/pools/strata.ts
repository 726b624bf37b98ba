import { divideHalfEven } from '../packs/money.ts'
import type { PoolFact } from './facts.ts'

/** Inclusive upper bounds of bands (docs/spec/evidence-families.md#pool-cuts-and-files). */
const AMOUNT_BANDS = [
  { band: 'UP_TO_1_LAKH', upTo: 10_000_000n },
  { band: 'UP_TO_10_LAKH', upTo: 100_000_000n },
  { band: 'UP_TO_1_CRORE', upTo: 1_000_000_000n },
] as const
const AMOUNT_ABOVE = 'ABOVE_1_CRORE'
const DAYS_BANDS = [
  { band: 'UP_TO_30', upTo: 30 },
  { band: '31_TO_60', upTo: 60 },
  { band: '61_TO_90', upTo: 90 },
  { band: '91_TO_180', upTo: 180 },
] as const
const DAYS_ABOVE = 'ABOVE_180'
const MISSING = 'MISSING'
/** The group of replines of one receivable, which would reveal that receivable. */
const OTHER = 'OTHER'
const TOP_BUYERS = 10

/** Whole paise as text, because a sum may exceed a JSON number. */
export interface Stratum {
  band: string
  count: number
  sumPaise: string
}

export interface Stratification {
  size: number
  sumPaise: string
  /** half-even of sum(paise × days) / sum(paise) over receivables with amount and due date; null without any */
  weightedDays: number | null
  amount: Stratum[]
  daysToDue: Stratum[]
  acceptance: Stratum[]
  tier: Stratum[]
  /** the ten with the largest sums; `bps` of the total sum, half-even */
  topBuyers: { buyerVei: string; sumPaise: string; bps: number }[]
}

export interface Repline {
  daysBand: string
  acceptance: string
  count: number
  sumPaise: string
  weightedDays: number | null
}

/** Exact integers; lists every band of amounts and days. */
export function stratify(facts: readonly PoolFact[]): Stratification {
  return {
    size: facts.length,
    sumPaise: String(sumOf(facts)),
    weightedDays: weightedDays(facts),
    amount: banded(facts, amountBand, [...AMOUNT_BANDS.map(({ band }) => band), AMOUNT_ABOVE, MISSING]),
    daysToDue: banded(facts, daysBand, [...DAYS_BANDS.map(({ band }) => band), DAYS_ABOVE, MISSING]),
    acceptance: banded(facts, ({ acceptance }) => acceptance ?? MISSING),
    tier: banded(facts, ({ tier }) => tier ?? MISSING),
    topBuyers: topBuyers(facts),
  }
}

/** Combines groups of one receivable in the line OTHER. */
export function replines(facts: readonly PoolFact[]): Repline[] {
  const groups = Map.groupBy(facts, (fact) => `${daysBand(fact)}/${fact.acceptance ?? MISSING}`)
  const alone = [...groups.values()].filter(({ length }) => length === 1).flat()
  const lines = [...groups.values()]
    .filter(({ length }) => length > 1)
    .flatMap((group) => {
      const [first] = group
      return first ? [lineOf(daysBand(first), first.acceptance ?? MISSING, group)] : []
    })
  const order = [...DAYS_BANDS.map(({ band }) => band as string), DAYS_ABOVE, MISSING]
  const sorted = lines.toSorted(
    (a, b) => order.indexOf(a.daysBand) - order.indexOf(b.daysBand) || (a.acceptance < b.acceptance ? -1 : 1),
  )
  return alone.length === 0 ? sorted : [...sorted, lineOf(OTHER, OTHER, alone)]
}

/** Half-even; null when no receivable has amount and due date. */
export function weightedDays(facts: readonly Pick<PoolFact, 'paise' | 'daysToDue'>[]): number | null {
  let sum = 0n
  let weighted = 0n
  for (const { paise, daysToDue } of facts) {
    if (paise === null || daysToDue === null) continue
    sum += paise
    weighted += paise * BigInt(daysToDue)
  }
  return sum === 0n ? null : Number(divideHalfEven(weighted, sum))
}

function lineOf(band: string, acceptance: string, group: readonly PoolFact[]): Repline {
  return {
    daysBand: band,
    acceptance,
    count: group.length,
    sumPaise: String(sumOf(group)),
    weightedDays: weightedDays(group),
  }
}

function banded(facts: readonly PoolFact[], bandOf: (fact: PoolFact) => string, bands?: readonly string[]): Stratum[] {
  const groups = Map.groupBy(facts, bandOf)
  return (bands ?? [...groups.keys()].toSorted()).map((band) => {
    const group = groups.get(band) ?? []
    return { band, count: group.length, sumPaise: String(sumOf(group)) }
  })
}

function amountBand({ paise }: PoolFact): string {
  if (paise === null) return MISSING
  return AMOUNT_BANDS.find(({ upTo }) => paise <= upTo)?.band ?? AMOUNT_ABOVE
}

function daysBand({ daysToDue }: PoolFact): string {
  if (daysToDue === null) return MISSING
  return DAYS_BANDS.find(({ upTo }) => daysToDue <= upTo)?.band ?? DAYS_ABOVE
}

function topBuyers(facts: readonly PoolFact[]): Stratification['topBuyers'] {
  const total = sumOf(facts)
  return [...buyerSums(facts)]
    .toSorted(([a, ofA], [b, ofB]) => (ofA === ofB ? (a < b ? -1 : 1) : ofA > ofB ? -1 : 1))
    .slice(0, TOP_BUYERS)
    .map(([buyerVei, sum]) => ({
      buyerVei,
      sumPaise: String(sum),
      bps: total === 0n ? 0 : Number(divideHalfEven(sum * 10_000n, total)),
    }))
}

export function buyerSums(facts: readonly Pick<PoolFact, 'paise' | 'buyerVei'>[]): Map<string, bigint> {
  const sums = new Map<string, bigint>()
  for (const { buyerVei, paise } of facts) {
    if (buyerVei !== null) sums.set(buyerVei, (sums.get(buyerVei) ?? 0n) + (paise ?? 0n))
  }
  return sums
}

export function sumOf(facts: readonly Pick<PoolFact, 'paise'>[]): bigint {
  return facts.reduce((sum, { paise }) => sum + (paise ?? 0n), 0n)
}
