import type { Paise } from '../packs/money.ts'

/** Return from which the rows of a leg were read: of the supplier or the recipient (docs/spec/risk-signals.md#trade-relationship). */
type TradeSource = 'GSTR1_TABLE4' | 'GSTR2B_B2B'

export interface ReturnPeriod {
  /** Calendar month, `YYYY-MM`; a quarterly return is named by its last month. */
  period: string
  filing: 'MONTHLY' | 'QUARTERLY'
  /** A period that is not filed, or not obtainable, is missing and never zero. */
  status: 'FILED' | 'NOT_FILED' | 'NOT_OBTAINABLE'
}

/** A document in Table 4 (or its mirror), dated in Indian time, reported in a return period. */
export interface LedgerInvoice {
  period: string
  number: string
  date: string
  valuePaise: Paise
  irn: string | null
}

interface LedgerAmendment extends LedgerInvoice {
  originalNumber: string
  originalDate: string
}

interface LedgerNote {
  period: string
  kind: 'CREDIT' | 'DEBIT'
  number: string
  date: string
  valuePaise: Paise
}

/** What one supplier reported about one recipient. */
export interface TradeLedger {
  source: TradeSource
  supplierGstin: string
  recipientGstin: string
  periods: readonly ReturnPeriod[]
  invoices: readonly LedgerInvoice[]
  amendments: readonly LedgerAmendment[]
  notes: readonly LedgerNote[]
}

/** Outward taxable, exempt and zero-rated supplies of the filed periods, at most the last twelve. */
export interface OutwardSupplies {
  gstin: string
  periods: readonly { period: string; valuePaise: Paise }[]
}

export interface TaxpayerStatus {
  gstin: string
  legalName: string
  status: 'ACTIVE' | 'SUSPENDED' | 'CANCELLED' | 'INACTIVE'
  registeredOn: string | null
  /** Other registrations of the same legal entity, when the registry lists them. */
  otherGstins: readonly string[]
}

/** Company master data, reduced to what a link between parties can be read from. Hashes are the registry's. */
export interface CompanyMaster {
  pan: string
  companyNumber: string | null
  legalName: string
  status: string
  directorIds: readonly string[]
  /** Shares held in other companies, in hundredths of a percent. */
  holdings: readonly { pan: string; basisPoints: number }[]
  addressHash: string | null
  bankAccountHashes: readonly string[]
  phoneHashes: readonly string[]
  emailHashes: readonly string[]
}

/** A person's or business's identifier that a registry is asked for. */
export interface PersonQuery {
  registry: 'PAN' | 'CKYC'
  identifier: string
}

/** Whether an identifier is in force; ACTIVE, or the registry's word for why not. */
export interface PersonRecord {
  registry: 'PAN' | 'CKYC'
  status: string
}

export interface ProvidentFund {
  pan: string
  establishmentId: string
  /** Latest wage month with a contribution, `YYYY-MM`. */
  wageMonth: string
  activeMembers: number
}

interface SecurityInterest {
  securityInterestId: string
  assetCategory: string
  coversReceivables: boolean
  createdOn: string
  securedAmountPaise: Paise | null
  chargeHolderType: string
  active: boolean
}

export type SecuritySearchType = 'SI' | 'ASSET' | 'DEBTOR' | 'AOR'

export interface SecuritySearch {
  searchType: SecuritySearchType
  searchedAt: string
  interests: readonly SecurityInterest[]
}

interface AccountTransaction {
  /** ISO 8601 with an offset. */
  at: string
  /** Credits positive, debits negative. */
  signedPaise: Paise
  balancePaise: Paise
}

export interface DepositAccount {
  ref: string
  type: string
  /** Overdraft or cash-credit facility; null for a plain deposit. */
  facility: string | null
  currentBalancePaise: Paise
  /** Days the statement covers, both included. */
  from: string
  to: string
  transactions: readonly AccountTransaction[]
}

export interface AccountData {
  accounts: readonly DepositAccount[]
}

export interface LeiRecord {
  lei: string
  legalName: string
  jurisdiction: string | null
  entityStatus: string
  registrationStatus: string
  registeredAs: string | null
  nextRenewalDate: string | null
}

/** A document as the invoice-management system knows it. */
export type InvoiceActionQuery = {
  supplierGstin: string
  buyerGstin: string
  documentType: string
  documentNumber: string
  /** `YYYY-MM-DD` */
  documentDate: string
}

export interface InvoiceAction {
  action: 'ACCEPTED' | 'REJECTED' | 'PENDING' | 'DEEMED_ACCEPTED'
  actedOn: string | null
}

/** An importer-exporter code and whose it is. */
export interface ExporterCode {
  iec: string
  legalName: string
  status: 'ACTIVE' | 'SUSPENDED' | 'CANCELLED'
  issuedOn: string | null
}

/** What names a shipping bill: customs number them per day and port. */
export interface ShippingBillName {
  number: string
  /** `YYYY-MM-DD` */
  date: string
  portCode: string
}

/** A foreign amount, as a decimal text. */
interface ForeignAmount {
  amount: string
  currency: string
}

/** A bank-realisation certificate. */
export interface ExportCertificate {
  iec: string
  brcNumber: string
  status: 'ISSUED' | 'CANCELLED'
  issuedOn: string
  /** the bill that the exporter tied it to */
  shippingBill: ShippingBillName | null
  realised: ForeignAmount | null
  /** the bank's remittance message */
  remittance: (ForeignAmount & { date: string }) | null
}

export interface ShippingBill extends ShippingBillName {
  iec: string
  fobPaise: Paise | null
  invoiceNumbers: readonly string[]
}
