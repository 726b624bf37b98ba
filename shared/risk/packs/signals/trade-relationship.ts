import type { TradeLedger } from '../../registries/registry-data.ts'
import { type Paise, toInr } from '../money.ts'
import { type LedgerWindow, ledgerWindow } from './trade-ledger.ts'

/** Values without a source are null, never zero. */
export interface TradeLeg {
  counterpartyGstin: string
  invoiceCount: number | null
  totalValueInr: number | null
  monthsActive: number | null
  trend: Trend | null
  verified: boolean
  source: string | null
}

export interface TradeLegInput {
  /** the other party from the borrower's point of view */
  counterpartyGstin: string
  /** null without a registry response */
  ledger: TradeLedger | null
  observedAtMs: number
  /** both registrations are active in the taxpayer registry */
  isBothActive: boolean
  /** the consent was live when the rows were read */
  isConsentLive: boolean
}

/** Filed periods that `verified` requires (docs/spec/risk-signals.md#trade-relationship). */
const VERIFIED_FILED_MONTHS = 9

/** Null window without a ledger. */
export function tradeRelationship(input: TradeLegInput): { leg: TradeLeg; window: LedgerWindow | null } {
  const { counterpartyGstin, ledger } = input
  if (!ledger) return { leg: missingLeg(counterpartyGstin), window: null }
  const window = ledgerWindow(ledger, input.observedAtMs)
  const leg: TradeLeg = {
    counterpartyGstin,
    invoiceCount: window.invoices.length,
    totalValueInr: toInr(window.totalPaise),
    monthsActive: window.monthsActive,
    trend: tradeTrend(window.monthlyPaise),
    verified: input.isConsentLive && input.isBothActive && window.filedMonths >= VERIFIED_FILED_MONTHS,
    source: ledger.source,
  }
  // Without a filed period all counts would be invented zeros.
  if (window.filedMonths === 0)
    return { leg: { ...missingLeg(counterpartyGstin), source: ledger.source }, window: null }
  return { leg, window }
}

function missingLeg(counterpartyGstin: string): TradeLeg {
  return {
    counterpartyGstin,
    invoiceCount: null,
    totalValueInr: null,
    monthsActive: null,
    trend: null,
    verified: false,
    source: null,
  }
}

export type Trend = 'GROWING' | 'STABLE' | 'DECLINING' | 'INSUFFICIENT_DATA'

/** Six periods and the six before, oldest first (docs/spec/risk-signals.md#trade-relationship). */
export function tradeTrend(monthly: readonly (Paise | null)[]): Trend {
  const prior = known(monthly.slice(0, 6))
  const recent = known(monthly.slice(6))
  const all = [...prior, ...recent]
  const sumPrior = sum(prior)
  const sumRecent = sum(recent)
  const hasEnoughData =
    prior.length >= 3 && recent.length >= 3 && all.length >= 9 && all.filter((value) => value > 0).length >= 4
  if (!hasEnoughData || sumPrior <= 0n) return 'INSUFFICIENT_DATA'
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
