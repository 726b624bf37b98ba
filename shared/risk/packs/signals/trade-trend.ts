import type { Paise } from '../money.ts'

export type Trend = 'GROWING' | 'STABLE' | 'DECLINING' | 'INSUFFICIENT_DATA'

/**
 * Compares the recent six periods with the six before (docs/spec/risk-signals.md#trade-relationship): means compared by integer
 * cross-multiplication, so the 15 % boundaries are exact.
 * @param monthly twelve net values, oldest first; null where a period is not filed or not obtainable
 */
export function tradeTrend(monthly: readonly (Paise | null)[]): Trend {
  const prior = known(monthly.slice(0, 6))
  const recent = known(monthly.slice(6))
  const all = [...prior, ...recent]
  const sumPrior = sum(prior)
  const sumRecent = sum(recent)
  const enough =
    prior.length >= 3 && recent.length >= 3 && all.length >= 9 && all.filter((value) => value > 0).length >= 4
  if (!enough || sumPrior <= 0n) return 'INSUFFICIENT_DATA'
  const recentSide = 100n * sumRecent * BigInt(prior.length)
  const priorSide = sumPrior * BigInt(recent.length)
  if (recentSide >= 115n * priorSide) return 'GROWING'
  if (recentSide <= 85n * priorSide) return 'DECLINING'
  return 'STABLE'
}

function known(values: readonly (Paise | null)[]): Paise[] {
  return values.filter((value) => value !== null)
}

function sum(values: readonly Paise[]): bigint {
  return values.reduce((total, value) => total + BigInt(value), 0n)
}
