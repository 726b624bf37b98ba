import type { SecuritySearch, SecuritySearchType } from '../../registries/registry-data.ts'
import { toInr } from '../money.ts'

export type DoubleFinancingStatus =
  | 'CLEAN'
  | 'POSSIBLE_MATCH'
  | 'DUPLICATE_REGISTERED'
  | 'DUPLICATE_FINANCED'
  | 'CHARGE_FOUND'
  | 'UNRESOLVED'

/** Excludes the other party. */
export interface RegistryMatch {
  /** NEAR and ECONOMIC are possible matches (docs/spec/evidence-families.md#receivables-and-fingerprints). */
  class: 'EXACT' | 'NEAR' | 'ECONOMIC'
  state: 'REGISTERED' | 'FINANCED'
  /** by the caller's organisation */
  ownRegistration: boolean
  /** `YYYY-MM` */
  firstSeenMonth: string
}

/** Result of the first-financing registry of Signalbox. */
export type RegistryFindings = { status: 'ANSWERED'; matches: readonly RegistryMatch[] } | { status: 'UNAVAILABLE' }

interface ActiveCharge {
  securityInterestId: string
  assetCategory: string
  coversReceivables: boolean
  createdOn: string
  securedAmountInr: number | null
  chargeHolderType: string
}

export interface DoubleFinancing {
  status: DoubleFinancingStatus
  cersai: {
    source: string | null
    searchType: SecuritySearchType
    searchedAt: string | null
    activeCharges: ActiveCharge[] | null
  }
}

/** Never CLEAN without a response (docs/spec/risk-signals.md#double-financing). */
export function doubleFinancing(
  ownFindings: RegistryFindings,
  search: SecuritySearch | null,
  source: string | null,
): DoubleFinancing {
  const activeCharges = search ? activeChargesOf(search) : null
  return {
    status: statusOf(ownFindings, activeCharges),
    cersai: {
      source: search ? source : null,
      searchType: search?.searchType ?? 'SI',
      searchedAt: search?.searchedAt ?? null,
      activeCharges,
    },
  }
}

function statusOf(ownFindings: RegistryFindings, charges: readonly ActiveCharge[] | null): DoubleFinancingStatus {
  const others = ownFindings.status === 'ANSWERED' ? ownFindings.matches.filter((match) => !match.ownRegistration) : []
  const exact = others.filter((match) => match.class === 'EXACT')
  if (exact.some((match) => match.state === 'FINANCED')) return 'DUPLICATE_FINANCED'
  if (exact.length > 0) return 'DUPLICATE_REGISTERED'
  if (charges?.some((charge) => charge.coversReceivables)) return 'CHARGE_FOUND'
  if (others.length > 0) return 'POSSIBLE_MATCH'
  return ownFindings.status === 'UNAVAILABLE' || charges === null ? 'UNRESOLVED' : 'CLEAN'
}

function activeChargesOf(search: SecuritySearch): ActiveCharge[] {
  return search.interests
    .filter((interest) => interest.active)
    .map(
      ({ securityInterestId, assetCategory, coversReceivables, createdOn, securedAmountPaise, chargeHolderType }) => ({
        securityInterestId,
        assetCategory,
        coversReceivables,
        createdOn,
        securedAmountInr: securedAmountPaise === null ? null : toInr(securedAmountPaise),
        chargeHolderType,
      }),
    )
}
