import { z } from 'zod'
import type { Breakers } from './breaker.ts'
import type { Registry, RegistryDeps } from './connector.ts'
import { type AccountsInput, createAccounts } from './http/accounts.ts'
import { createCompanyMaster } from './http/companies.ts'
import { GatewayConfig } from './http/gateway.ts'
import { createInvoiceActions } from './http/invoice-actions.ts'
import { createLeiRecords, LeiConfig, type LeiQuery } from './http/lei-records.ts'
import { createProvidentFund } from './http/provident-fund.ts'
import { createSecurityInterests } from './http/security-interests.ts'
import { createOutwardSupplies, createTaxpayerStatus } from './http/taxpayers.ts'
import { createTradeReturns, type TradeReturnsInput } from './http/trade-returns.ts'
import type {
  AccountData,
  CompanyMaster,
  InvoiceAction,
  InvoiceActionQuery,
  LeiRecord,
  OutwardSupplies,
  ProvidentFund,
  SecuritySearch,
  SecuritySearchType,
  TaxpayerStatus,
  TradeLedger,
} from './registry-data.ts'
import { unconfiguredRegistry } from './unconfigured.ts'

/** Everything a pack asks outside, one entry per capability. */
export interface RegistrySet {
  tradeReturns: Registry<TradeReturnsInput, TradeLedger>
  invoiceActions: Registry<InvoiceActionQuery, InvoiceAction>
  outwardSupplies: Registry<{ gstin: string }, OutwardSupplies>
  taxpayerStatus: Registry<{ gstin: string }, TaxpayerStatus>
  companyMaster: Registry<{ pan: string }, CompanyMaster>
  providentFund: Registry<{ pan: string }, ProvidentFund>
  securityInterests: Registry<{ pan: string; searchType: SecuritySearchType }, SecuritySearch>
  accounts: Registry<AccountsInput, AccountData>
  leiRecords: Registry<LeiQuery, LeiRecord[]>
}

/** Address and credentials per connector; one that is left out is not configured. */
export const RegistryConfig = z.strictObject({
  taxReturns: GatewayConfig.optional(),
  taxpayers: GatewayConfig.optional(),
  companies: GatewayConfig.optional(),
  providentFund: GatewayConfig.optional(),
  securityInterests: GatewayConfig.optional(),
  accounts: GatewayConfig.optional(),
  lei: LeiConfig.optional(),
})

export type RegistryConfig = z.infer<typeof RegistryConfig>

/** The production connectors that are configured; the others answer MISSING/NOT_ENTITLED. */
export function createRegistrySet(
  config: RegistryConfig,
  deps: RegistryDeps,
  breakers: Breakers,
  sources: { securityInterests?: string; accounts?: string; lei?: string } = {},
): RegistrySet {
  const { taxReturns, taxpayers, companies, providentFund, securityInterests, accounts, lei } = config
  return {
    tradeReturns: taxReturns
      ? createTradeReturns(taxReturns, deps, breakers)
      : unconfiguredRegistry('trade-returns', deps.now),
    invoiceActions: taxReturns
      ? createInvoiceActions(taxReturns, deps, breakers)
      : unconfiguredRegistry('invoice-actions', deps.now),
    outwardSupplies: taxReturns
      ? createOutwardSupplies(taxReturns, deps, breakers)
      : unconfiguredRegistry('outward-supplies', deps.now),
    taxpayerStatus: taxpayers
      ? createTaxpayerStatus(taxpayers, deps, breakers)
      : unconfiguredRegistry('taxpayer-status', deps.now),
    companyMaster: companies
      ? createCompanyMaster(companies, deps, breakers)
      : unconfiguredRegistry('company-master', deps.now),
    providentFund: providentFund
      ? createProvidentFund(providentFund, deps, breakers)
      : unconfiguredRegistry('provident-fund', deps.now),
    securityInterests: securityInterests
      ? createSecurityInterests(securityInterests, deps, breakers, sources.securityInterests)
      : unconfiguredRegistry('security-interests', deps.now),
    accounts: accounts
      ? createAccounts(accounts, deps, breakers, sources.accounts)
      : unconfiguredRegistry('accounts', deps.now),
    leiRecords: lei
      ? createLeiRecords(lei, deps, breakers, sources.lei)
      : unconfiguredRegistry('lei-records', deps.now),
  }
}
