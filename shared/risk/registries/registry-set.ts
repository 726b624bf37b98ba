import { z } from 'zod'
import type { Breakers } from './breaker.ts'
import { type Registry, type RegistryDeps, unconfiguredRegistry } from './connector.ts'
import { type AccountsInput, createAccounts } from './http/accounts.ts'
import { createCompanyMaster, createPersonRecords } from './http/companies.ts'
import { createExportCertificates, createExporterCodes, createShippingBills } from './http/foreign-trade.ts'
import { GatewayConfig } from './http/gateway.ts'
import { createGroups } from './http/groups.ts'
import { createInvoiceActions } from './http/invoice-actions.ts'
import { createLeiRecords, LeiConfig, type LeiQuery } from './http/lei-records.ts'
import { createRegistryCompanies } from './http/registry-companies.ts'
import { createSecurityInterests } from './http/security-interests.ts'
import { createOutwardSupplies, createProvidentFund, createTaxpayerStatus } from './http/taxpayers.ts'
import { createTradeReturns, type TradeReturnsInput } from './http/trade-returns.ts'
import type {
  AccountData,
  CompanyGroup,
  CompanyMaster,
  CompanyQuery,
  ExportCertificate,
  ExporterCode,
  InvoiceAction,
  InvoiceActionQuery,
  LeiRecord,
  OutwardSupplies,
  PersonQuery,
  PersonRecord,
  ProvidentFund,
  RegistryCompany,
  RegistryCompanyQuery,
  SecuritySearch,
  SecuritySearchType,
  ShippingBill,
  ShippingBillName,
  TaxpayerStatus,
  TradeLedger,
} from './registry-data.ts'

export interface RegistrySet {
  tradeReturns: Registry<TradeReturnsInput, TradeLedger>
  invoiceActions: Registry<InvoiceActionQuery, InvoiceAction>
  outwardSupplies: Registry<{ gstin: string }, OutwardSupplies>
  taxpayerStatus: Registry<{ gstin: string }, TaxpayerStatus>
  companyMaster: Registry<CompanyQuery, CompanyMaster>
  groups: Registry<{ cin: string }, CompanyGroup>
  registryCompanies: Registry<RegistryCompanyQuery, RegistryCompany>
  providentFund: Registry<{ pan: string }, ProvidentFund>
  securityInterests: Registry<{ pan: string; searchType: SecuritySearchType }, SecuritySearch>
  accounts: Registry<AccountsInput, AccountData>
  leiRecords: Registry<LeiQuery, LeiRecord[]>
  exporterCodes: Registry<{ iec: string }, ExporterCode>
  exportCertificates: Registry<{ iec: string; brcNumber: string }, ExportCertificate>
  shippingBills: Registry<ShippingBillName & { iec: string }, ShippingBill>
  personRecords: Registry<PersonQuery, PersonRecord>
}

/** Omitted connectors are not configured. */
const RegistryConfig = z.strictObject({
  taxReturns: GatewayConfig.optional(),
  taxpayers: GatewayConfig.optional(),
  companies: GatewayConfig.optional(),
  groups: GatewayConfig.optional(),
  registryCompanies: GatewayConfig.optional(),
  providentFund: GatewayConfig.optional(),
  securityInterests: GatewayConfig.optional(),
  accounts: GatewayConfig.optional(),
  lei: LeiConfig.optional(),
  exporterCodes: GatewayConfig.optional(),
  exportCertificates: GatewayConfig.optional(),
  shippingBills: GatewayConfig.optional(),
  persons: GatewayConfig.optional(),
})

export type RegistryConfig = z.infer<typeof RegistryConfig>

/**
 * Parses the setting REGISTRIES.
 * @throws Error that names the wrong member, without its value, which may be a secret
 */
export function parseRegistryConfig(text: string | undefined): RegistryConfig {
  const parsed = RegistryConfig.safeParse(jsonOf(text ?? '{}'))
  if (parsed.success) return parsed.data
  const [{ path, message } = { path: [], message: '' }] = parsed.error.issues
  throw new Error(`REGISTRIES is invalid: ${[path.join('.'), message].filter(Boolean).join(': ')}`)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('REGISTRIES is not JSON')
  }
}

/** Connectors without configuration return MISSING/NOT_ENTITLED. */
export function createRegistrySet(
  config: RegistryConfig,
  deps: RegistryDeps,
  breakers: Breakers,
  sources: { securityInterests?: string; accounts?: string; lei?: string; registryCompanies?: string } = {},
): RegistrySet {
  const { taxReturns, taxpayers, companies, providentFund, securityInterests, accounts, lei, persons } = config
  const { exporterCodes, exportCertificates, shippingBills } = config
  const connector = <Config, Input, Data>(
    name: string,
    configured: Config | undefined,
    create: Create<Config, Input, Data>,
    source?: string,
  ): Registry<Input, Data> =>
    configured === undefined ? unconfiguredRegistry(name, deps.now) : create(configured, deps, breakers, source)
  return {
    tradeReturns: connector('trade-returns', taxReturns, createTradeReturns),
    invoiceActions: connector('invoice-actions', taxReturns, createInvoiceActions),
    outwardSupplies: connector('outward-supplies', taxReturns, createOutwardSupplies),
    taxpayerStatus: connector('taxpayer-status', taxpayers, createTaxpayerStatus),
    companyMaster: connector('company-master', companies, createCompanyMaster),
    groups: connector('groups', config.groups, createGroups),
    registryCompanies: connector(
      'registry-companies',
      config.registryCompanies,
      createRegistryCompanies,
      sources.registryCompanies,
    ),
    providentFund: connector('provident-fund', providentFund, createProvidentFund),
    securityInterests: connector(
      'security-interests',
      securityInterests,
      createSecurityInterests,
      sources.securityInterests,
    ),
    accounts: connector('accounts', accounts, createAccounts, sources.accounts),
    leiRecords: connector('lei-records', lei, createLeiRecords, sources.lei),
    personRecords: connector('person-records', persons, createPersonRecords),
    exporterCodes: connector('exporter-codes', exporterCodes, createExporterCodes),
    exportCertificates: connector('export-certificates', exportCertificates, createExportCertificates),
    shippingBills: connector('shipping-bills', shippingBills, createShippingBills),
  }
}

/** `source` is reported in responses; default: the connector's own. */
type Create<Config, Input, Data> = (
  config: Config,
  deps: RegistryDeps,
  breakers: Breakers,
  source?: string,
) => Registry<Input, Data>
