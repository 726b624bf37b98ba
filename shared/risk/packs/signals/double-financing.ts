import type { SecuritySearch, SecuritySearchType } from '../../registries/registry-data.ts'
import { toInr } from '../money.ts'

export type DoubleFinancingStatus =
  | 'CLEAN'
  | 'POSSIBLE_MATCH'
  | 'DUPLICATE_REGISTERED'
  | 'DUPLICATE_FINANCED'
  | 'CHARGE_FOUND'
  | 'UNRESOLVED'

/** One match of a fingerprint in the first-financing registry; the other party is never named. */
export interface RegistryMatch {
  /** EXACT is a legal identity; NEAR and ECONOMIC are possible matches only (docs/spec/evidence-families.md#receivables-and-fingerprints). */
  class: 'EXACT' | 'NEAR' | 'ECONOMIC'
  state: 'REGISTERED' | 'FINANCED'
  /** Registered by the asking organisation itself. */
  requireRegistration: boolean
  /** `YYYY-MM`. */
  firstSeenMonth: string
}

/** What the own first-financing registry said; `UNAVAILABLE` leaves the question open. */
export type RegistryFindings = { status: 'ANSWERED'; matches: readonly RegistryMatch[] } | { status: 'UNAVAILABLE' }

interface ActiveCharge {
  securityInterestId: string
  assetCategory: string
  coversReceivables: boolean
  createdOn: string
  securedAmountInr: number | null
  chargeHolderType: string
}

/** `doubleFinancing` of the contract. */
export interface DoubleFinancing {
  status: DoubleFinancingStatus
  cersai: {
    source: string | null
    searchType: SecuritySearchType
    searchedAt: string | null
    activeCharges: ActiveCharge[] | null
  }
}

/** Joins both searches; the precedence is docs/spec/risk-signals.md#double-financing's, and what did not answer is never shown as CLEAN. */
export function doubleFinancing(
  own: RegistryFindings,
  search: SecuritySearch | null,
  source: string | null,
): DoubleFinancing {
  const activeCharges = search ? activeChargesOf(search) : null
  return {
    status: statusOf(own, activeCharges),
    cersai: {
      source: search ? source : null,
      searchType: search?.searchType ?? 'SI',
      searchedAt: search?.searchedAt ?? null,
      activeCharges,
    },
  }
}

function statusOf(own: RegistryFindings, charges: readonly ActiveCharge[] | null): DoubleFinancingStatus {
  const others = own.status === 'ANSWERED' ? own.matches.filter((match) => !match.requireRegistration) : []
  const exact = others.filter((match) => match.class === 'EXACT')
  if (exact.some((match) => match.state === 'FINANCED')) return 'DUPLICATE_FINANCED'
  if (exact.length > 0) return 'DUPLICATE_REGISTERED'
  if (charges?.some((charge) => charge.coversReceivables)) return 'CHARGE_FOUND'
  if (others.length > 0) return 'POSSIBLE_MATCH'
  return own.status === 'UNAVAILABLE' || charges === null ? 'UNRESOLVED' : 'CLEAN'
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
