import type { TradeLeg } from './trade-relationship.ts'

export interface Establishment {
  gstin: string
  /** Null when the leg's trade is missing. */
  established: boolean | null
  invoiceCount: number | null
  monthsActive: number | null
}

/** A counterparty counts as established from six invoices in three months on (docs/spec/risk-signals.md#trade-relationship). */
export function counterpartyEstablishment(leg: TradeLeg): Establishment {
  const { counterpartyGstin: gstin, invoiceCount, monthsActive } = leg
  const established = invoiceCount === null || monthsActive === null ? null : invoiceCount >= 6 && monthsActive >= 3
  return { gstin, established, invoiceCount, monthsActive }
}
