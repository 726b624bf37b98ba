import { z } from 'zod'
import type { RegistryResult } from '../registries/connector.ts'
import type {
  AccountData,
  CompanyGroup,
  CompanyMaster,
  OutwardSupplies,
  ProvidentFund,
  SecuritySearch,
  TaxpayerStatus,
  TradeLedger,
} from '../registries/registry-data.ts'

export const GRADED_KEYS = [
  'tradeRelationship.ab',
  'tradeRelationship.bc',
  'eInvoice',
  'subcontractorCapacity',
  'borrowerCapacity',
  'relatedParty',
  'doubleFinancing',
] as const

export type GradedKey = (typeof GRADED_KEYS)[number]

/** Every evidence record contains `policyVersion`, because rules may change. */
export const PackPolicy = z.object({
  policyVersion: z.string().min(1),
  /** The question class in `grade`, fixed per key (docs/spec/risk-signals.md#graded-signals). */
  grades: z.record(z.enum(GRADED_KEYS), z.string().min(1)),
})

export type PackPolicy = z.infer<typeof PackPolicy>

export const defaultPolicy: PackPolicy = {
  policyVersion: '2026-11-1',
  grades: {
    'tradeRelationship.ab': 'DEPTH_PRIMARY',
    'tradeRelationship.bc': 'DEPTH_PRIMARY',
    eInvoice: 'DEPTH_CORROBORATING',
    subcontractorCapacity: 'CAPACITY',
    borrowerCapacity: 'CAPACITY',
    relatedParty: 'CONFLICT',
    doubleFinancing: 'CONFLICT',
  },
}

export interface PackRegistryResults {
  /** The borrower's return about the buyer; the subcontractor's return about the borrower. */
  trade: { ab: RegistryResult<TradeLedger>; bc: RegistryResult<TradeLedger> }
  taxpayer: Record<'buyer' | 'borrower' | 'subcontractor', RegistryResult<TaxpayerStatus>>
  company: Record<'buyer' | 'borrower' | 'subcontractor', RegistryResult<CompanyMaster>>
  /** null without a company number */
  group: Record<'buyer' | 'borrower' | 'subcontractor', RegistryResult<CompanyGroup> | null>
  turnover: Record<'borrower' | 'subcontractor', RegistryResult<OutwardSupplies>>
  headcount: Record<'borrower' | 'subcontractor', RegistryResult<ProvidentFund>>
  security: RegistryResult<SecuritySearch>
  accounts: RegistryResult<AccountData>
}

export type PartyRole = 'buyer' | 'borrower' | 'subcontractor'

export const SHARE_DAYS = 30

/** The prefix prevents use of the digest for another purpose. */
export function shareDigestText(token: string): string {
  return `pack-share:${token}`
}
