import type { Paise } from '../packs/money.ts'

/** The supplier's return or the recipient's statement (docs/spec/risk-signals.md#trade-relationship). */
type TradeSource = 'GSTR1_TABLE4' | 'GSTR2B_B2B'

export interface ReturnPeriod {
  /** calendar month, `YYYY-MM`; for a quarterly return its last month */
  period: string
  filing: 'MONTHLY' | 'QUARTERLY'
  /** a period that is not filed, or not obtainable, is missing, never zero */
  status: 'FILED' | 'NOT_FILED' | 'NOT_OBTAINABLE'
}

/** In Table 4 or its mirror, dated in Indian time. */
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

export interface TradeLedger {
  source: TradeSource
  supplierGstin: string
  recipientGstin: string
  periods: readonly ReturnPeriod[]
  invoices: readonly LedgerInvoice[]
  amendments: readonly LedgerAmendment[]
  notes: readonly LedgerNote[]
  /** false if the source of a filed period lacks amendments or notes, so that their absence means nothing */
  hasNotes?: boolean
}

/** Includes exempt and zero-rated supplies; at most the last twelve periods. */
export interface OutwardSupplies {
  gstin: string
  periods: readonly { period: string; valuePaise: Paise }[]
}

export interface TaxpayerStatus {
  gstin: string
  legalName: string
  status: 'ACTIVE' | 'SUSPENDED' | 'CANCELLED' | 'INACTIVE'
  registeredOn: string | null
  /** if the registry lists them */
  otherGstins: readonly string[]
}

/** `cin` is the company number, if the request has one: registers are keyed by it. */
export interface CompanyQuery {
  pan: string
  cin?: string | undefined
}

/** Company master data from which links between parties can be found. The registry computes the hashes. */
export interface CompanyMaster {
  pan: string
  companyNumber: string | null
  legalName: string
  status: string
  directorIds: readonly string[]
  holdings: readonly { pan: string; basisPoints: number }[]
  addressHash: string | null
  bankAccountHashes: readonly string[]
  phoneHashes: readonly string[]
  emailHashes: readonly string[]
  /** kinds of links that the source cannot show */
  notCompared?: readonly ('DIRECTOR' | 'HOLDING' | 'ADDRESS' | 'BANK_ACCOUNT' | 'PHONE' | 'EMAIL')[] | undefined
}

/** The register by its code in the list of GLEIF, and the company's number there. */
export interface RegistryCompanyQuery {
  authority: string
  number: string
}

/** A company of a register outside India. */
export interface RegistryCompany {
  authority: string
  companyNumber: string
  legalName: string
  status: string
  directorIds: readonly string[]
  /** corporate holders; null if the register has none on record */
  heldBy: readonly { authority: string | null; companyNumber: string | null; minBasisPoints: number }[] | null
}

/** Accounting parents by legal entity identifier; null if the register has none. */
export interface CompanyGroup {
  lei: string
  directParentLei: string | null
  ultimateParentLei: string | null
}

export interface PersonQuery {
  registry: 'PAN' | 'CKYC'
  identifier: string
}

/** `status` is ACTIVE, or the registry's reason. */
export interface PersonRecord {
  registry: 'PAN' | 'CKYC'
  status: string
}

export interface ProvidentFund {
  pan: string
  establishmentId: string
  /** latest with a contribution, `YYYY-MM` */
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
  /** ISO 8601 with an offset */
  at: string
  /** credits positive, debits negative */
  signedPaise: Paise
  balancePaise: Paise
}

export interface DepositAccount {
  ref: string
  type: string
  /** overdraft or cash-credit facility; null for a plain deposit */
  facility: string | null
  currentBalancePaise: Paise
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
  /** code of the business register in the list of GLEIF */
  registeredAt: string | null
  registeredAs: string | null
  nextRenewalDate: string | null
}

export type InvoiceActionQuery = {
  supplierGstin: string
  buyerGstin: string
  documentType: string
  documentNumber: string
  documentDate: string
}

export interface InvoiceAction {
  action: 'ACCEPTED' | 'REJECTED' | 'PENDING' | 'DEEMED_ACCEPTED'
  actedOn: string | null
}

export interface ExporterCode {
  iec: string
  legalName: string
  status: 'ACTIVE' | 'SUSPENDED' | 'CANCELLED'
  issuedOn: string | null
}

/** Unique per day and port. */
export interface ShippingBillName {
  number: string
  date: string
  portCode: string
}

/** Decimal text. */
interface ForeignAmount {
  amount: string
  currency: string
}

export interface ExportCertificate {
  iec: string
  brcNumber: string
  status: 'ISSUED' | 'CANCELLED'
  issuedOn: string
  /** the bill that the exporter assigned to it */
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
