import type { TradeLedger } from '../../registries/registry-data.ts'
import { toInr } from '../money.ts'
import { type LedgerWindow, ledgerWindow } from './trade-ledger.ts'
import { type Trend, tradeTrend } from './trade-trend.ts'

/** One leg of the contract's `tradeRelationship`. What no source answered is null, never zero. */
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
  /** The other side as the borrower sees it. */
  counterpartyGstin: string
  /** Null when no registry answered. */
  ledger: TradeLedger | null
  observedAtMs: number
  /** Both registrations are active in the taxpayer registry. */
  isBothActive: boolean
  /** The rows came under a consent that was live when they were read. */
  isConsentLive: boolean
}

/** `verified` needs a live consent, two active registrations and nine filed periods of twelve (docs/spec/risk-signals.md#trade-relationship). */
const VERIFIED_FILED_MONTHS = 9

/** The trade of one leg, and the window it was read from (null with the ledger). */
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
  // With no period filed there is nothing to count: the zeros would be invented.
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
