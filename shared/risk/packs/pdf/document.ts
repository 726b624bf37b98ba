import type { ApiEnv } from '../../../environment.ts'
import { AntiDilutionSchema } from '../../acceptance/anti-dilution.ts'
import { EvidenceSchema } from '../../evidence/values.ts'
import { type Pack, PackSchema, type SignalLevel } from '../pack-schema.ts'
import { type Card, evidenceOf } from './card.ts'
import { packCards } from './cards.ts'
import { dilutionCard } from './dilution-card.ts'
import { inrFigure } from './figures.ts'
import { flagText } from './labels.ts'
import { countTiers, lowestTier, type TierCount } from './tiers.ts'

export interface PackDocument {
  packId: string
  /** ISO 8601 UTC with milliseconds */
  generatedAt: string
  isSandbox: boolean
  level: { code: SignalLevel; meaning: string }
  /** the pack does not contain the borrower */
  order: { value: string; subcontract: string; buyer: string; subcontractor: string }
  /** over the whole evidence; contains every tier */
  tiers: TierCount[]
  cards: Card[]
  flags: string[]
  anchor: Pack['anchor']
}

/** Required on every page and document. */
export const EVIDENCE_SENTENCE =
  'This pack is evidence, never a recommendation: it does not suggest to approve, decline, price or size anything.'

export const SANDBOX_SENTENCE = 'SANDBOX — NOT EVIDENCE. The values below describe no real business.'

const LEVELS: Readonly<Record<SignalLevel, string>> = {
  CLEAR: 'no rule for attention, conflict or incompleteness applied',
  INCOMPLETE: 'at least one value that the rules need is missing or too thin',
  ATTENTION: 'at least one value meets a rule for a closer look',
  CONFLICTED: 'sources contradict each other, or a conflict was found',
}

/** CLEAR does not need all values, so it states how many are missing. */
function meaningOf(level: SignalLevel, evidence: readonly { tier: string }[]): string {
  const missing = evidence.filter(({ tier }) => tier === 'MISSING').length
  if (level !== 'CLEAR' || missing === 0) return LEVELS[level]
  return `${LEVELS[level]}; ${missing === 1 ? '1 value is' : `${missing} values are`} missing`
}

export function packDocument(stored: {
  body: string
  evidence: string | null
  dilution?: string | null
  env: ApiEnv
}): PackDocument {
  const pack = PackSchema.parse(JSON.parse(stored.body))
  const evidence = stored.evidence === null ? [] : EvidenceSchema.parse(JSON.parse(stored.evidence)).evidence
  const cards = packCards({ pack, evidence })
  const shown = new Set(cards.flatMap((card) => card.evidence.map(({ key }) => key)))
  const rest = evidence.filter(({ key }) => !shown.has(key))
  return {
    packId: pack.packId,
    generatedAt: pack.generatedAt,
    isSandbox: stored.env === 'SANDBOX',
    level: { code: pack.signalLevel, meaning: meaningOf(pack.signalLevel, evidence) },
    order: {
      value: inrFigure(pack.signals.borrowerCapacity.orderValueInr),
      subcontract: inrFigure(pack.signals.subcontractorCapacity.orderValueInr),
      buyer: pack.signals.tradeRelationship.ab.counterpartyGstin,
      subcontractor: pack.signals.tradeRelationship.bc.counterpartyGstin,
    },
    tiers: countTiers(evidence.map(({ tier }) => tier)),
    cards: [...cards, ...(rest.length === 0 ? [] : [restCard(rest)]), ...dilutionCards(stored.dilution)],
    flags: pack.flags.map(flagText),
    anchor: pack.anchor,
  }
}

function dilutionCards(stored: string | null | undefined): Card[] {
  return stored ? [dilutionCard(AntiDilutionSchema.parse(JSON.parse(stored)))] : []
}

/** Shows evidence of no other card, so that none is omitted. */
function restCard(rest: Parameters<typeof evidenceOf>[0]): Card {
  const evidence = evidenceOf(
    rest,
    rest.map(({ key }) => key),
  )
  const tier = lowestTier(rest.map((entry) => entry.tier))
  return { key: 'other', title: 'Other evidence', tier, grade: null, detail: null, values: [], evidence }
}
