import type { RegistryResult } from '../registries/connector.ts'
import type {
  AccountData,
  CompanyMaster,
  OutwardSupplies,
  ProvidentFund,
  SecuritySearch,
  TaxpayerStatus,
  TradeLedger,
} from '../registries/registry-data.ts'

/** Every registry answer a pack is composed from. */
export interface PackRegistryResults {
  /** The borrower's return about the buyer; the subcontractor's return about the borrower. */
  trade: { ab: RegistryResult<TradeLedger>; bc: RegistryResult<TradeLedger> }
  taxpayer: Record<'buyer' | 'borrower' | 'subcontractor', RegistryResult<TaxpayerStatus>>
  company: Record<'buyer' | 'borrower' | 'subcontractor', RegistryResult<CompanyMaster>>
  turnover: Record<'borrower' | 'subcontractor', RegistryResult<OutwardSupplies>>
  headcount: Record<'borrower' | 'subcontractor', RegistryResult<ProvidentFund>>
  security: RegistryResult<SecuritySearch>
  accounts: RegistryResult<AccountData>
}

export type PartyRole = 'buyer' | 'borrower' | 'subcontractor'
