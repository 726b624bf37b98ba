import type { z } from 'zod'
import type { EvidenceEntrySchema } from '../../evidence/values.ts'
import type { GradedSignal, Pack } from '../pack-schema.ts'
import { withoutCodes } from './figures.ts'
import { lowestTier } from './tiers.ts'

export type EvidenceEntry = z.infer<typeof EvidenceEntrySchema>

export interface CardValue {
  label: string
  value: string
}

export interface CardEvidence extends EvidenceEntry {
  label: string
}

export interface Card {
  key: string
  title: string
  /** the lowest tier among the inputs of the detail */
  tier: string
  /** for example `CAPACITY` */
  grade: string | null
  detail: string | null
  values: CardValue[]
  evidence: CardEvidence[]
}

export interface CardInput {
  pack: Pack
  evidence: readonly EvidenceEntry[]
}

const NAMES: Readonly<Record<string, string>> = {
  'tradeRelationship.ab': 'Trade',
  'tradeRelationship.bc': 'Trade',
  'taxpayerStatus.buyer': 'Registration of the buyer',
  'taxpayerStatus.borrower': 'Registration of the borrower',
  'taxpayerStatus.subcontractor': 'Registration of the subcontractor',
  'doubleFinancing.registry': 'First-financing registry',
  'doubleFinancing.cersai': 'Security interests',
  aaCashflow: 'Accounts',
  'relatedParty.buyer': 'Company data of the buyer',
  'relatedParty.borrower': 'Company data of the borrower',
  'relatedParty.subcontractor': 'Company data of the subcontractor',
}

const LAST_NAMES: Readonly<Record<string, string>> = {
  annualTurnoverInr: 'Turnover',
  activeEmployeeCount: 'Employees',
  orderValueInr: 'Order value',
}

function evidenceLabel(key: string): string {
  const token = /^eInvoice\.tokens\[([0-9]+)\]$/.exec(key)?.[1]
  if (token !== undefined) return `E-invoice ${Number(token) + 1}`
  return NAMES[key] ?? LAST_NAMES[key.slice(key.indexOf('.') + 1)] ?? key
}

/** Keys equal one of `names`, or begin with it and a dot. */
export function evidenceOf(evidence: readonly EvidenceEntry[], names: readonly string[]): CardEvidence[] {
  return evidence
    .filter(({ key }) => names.some((name) => key === name || key.startsWith(`${name}.`)))
    .map((entry) => ({ ...entry, label: evidenceLabel(entry.key) }))
}

/** Codes become words. */
export function gradedCard(
  input: CardInput,
  key: GradedSignal['key'],
  values: CardValue[],
  names: readonly string[] = [key],
): Card {
  const graded = input.pack.gradedSignals.find((signal) => signal.key === key)
  const evidence = evidenceOf(input.evidence, names)
  return {
    key,
    title: graded?.label ?? key,
    tier: graded?.status ?? lowestTier(evidence.map(({ tier }) => tier)),
    grade: graded?.grade ?? null,
    detail: graded ? withoutCodes(graded.detail) : null,
    values,
    evidence,
  }
}

/** The tier is the lowest of its evidence. */
export function plainCard(
  input: CardInput,
  card: Pick<Card, 'key' | 'title' | 'values'>,
  names: readonly string[],
): Card {
  const evidence = evidenceOf(input.evidence, names)
  return { ...card, grade: null, detail: null, tier: lowestTier(evidence.map(({ tier }) => tier)), evidence }
}
