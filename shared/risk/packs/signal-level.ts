import type { PackSignals, SignalLevel } from './pack-schema.ts'
import { type AssessedToken, corroborates, isContradiction } from './signals/e-invoice.ts'
import type { RelatedPartyFinding } from './signals/related-party.ts'

export interface LevelInput {
  signals: PackSignals
  relatedParty: RelatedPartyFinding
  tokens: readonly AssessedToken[]
  hasInactiveRegistration: boolean
}

/** A routing label, not a recommendation (docs/spec/risk-signals.md#signal-level). */
export function signalLevel(input: LevelInput): SignalLevel {
  if (isConflicted(input)) return 'CONFLICTED'
  if (needsAttention(input)) return 'ATTENTION'
  return isIncomplete(input) ? 'INCOMPLETE' : 'CLEAR'
}

function isConflicted({ signals, relatedParty, tokens }: LevelInput): boolean {
  const { status } = signals.doubleFinancing
  return (
    status === 'DUPLICATE_FINANCED' ||
    status === 'DUPLICATE_REGISTERED' ||
    relatedParty === 'SAME_LEGAL_ENTITY' ||
    relatedParty === 'RELATED' ||
    tokens.some(isContradiction)
  )
}

function needsAttention({ signals, relatedParty, tokens, hasInactiveRegistration }: LevelInput): boolean {
  const { tradeRelationship, borrowerCapacity, subcontractorCapacity, counterpartyEstablishment } = signals
  const ratings = [borrowerCapacity.capacityRating, subcontractorCapacity.capacityRating]
  const { status } = signals.doubleFinancing
  return (
    tradeRelationship.ab.trend === 'DECLINING' ||
    tradeRelationship.bc.trend === 'DECLINING' ||
    ratings.includes('STRETCHED') ||
    ratings.includes('CONSTRAINED') ||
    counterpartyEstablishment.buyer.established === false ||
    counterpartyEstablishment.subcontractor.established === false ||
    status === 'CHARGE_FOUND' ||
    status === 'POSSIBLE_MATCH' ||
    relatedParty === 'POSSIBLE' ||
    hasInactiveRegistration ||
    hasUncorroboratedTokens(tokens)
  )
}

// A leg without tokens does not count. A token without a leg counts, because an unreadable token must not pass as
// clear.
function hasUncorroboratedTokens(tokens: readonly AssessedToken[]): boolean {
  if (tokens.some(({ check, returnMatch }) => check.leg === null || returnMatch === 'OTHER_VALUE')) return true
  const legs = new Set(tokens.flatMap(({ check }) => (check.leg ? [check.leg] : [])))
  return [...legs].some((leg) => !tokens.some((token) => corroborates(token, leg)))
}

function isIncomplete({ signals, relatedParty }: LevelInput): boolean {
  const { tradeRelationship, borrowerCapacity, subcontractorCapacity, doubleFinancing } = signals
  const trends = [tradeRelationship.ab.trend, tradeRelationship.bc.trend]
  return (
    trends.includes(null) ||
    trends.includes('INSUFFICIENT_DATA') ||
    // Values without a live consent or a confirmed registration are shown, but leave the pack incomplete.
    !tradeRelationship.ab.verified ||
    !tradeRelationship.bc.verified ||
    borrowerCapacity.capacityRating === 'UNKNOWN' ||
    subcontractorCapacity.capacityRating === 'UNKNOWN' ||
    relatedParty === 'MISSING' ||
    doubleFinancing.status === 'UNRESOLVED'
  )
}
