import type { CompanyGroup, CompanyMaster } from '../../registries/registry-data.ts'

export type RelatedPartyFinding = 'SAME_LEGAL_ENTITY' | 'RELATED' | 'POSSIBLE' | 'NONE_FOUND' | 'MISSING'

/** Kinds of links; persons, addresses and accounts are never named. */
export type LinkType = 'SAME_PAN' | 'DIRECTOR' | 'HOLDING' | 'PARENT' | 'ADDRESS' | 'BANK_ACCOUNT' | 'PHONE' | 'EMAIL'

export interface PartyIdentity {
  pan: string
  /** null without a response of the company registry */
  company: CompanyMaster | null
  /** null without a record in the register of legal entity identifiers */
  group?: CompanyGroup | null
}

export interface RelatedParty {
  finding: RelatedPartyFinding
  links: LinkType[]
  /** kinds of links that the source of at least one party cannot show */
  notCompared: NotCompared[]
}

export type NotCompared = NonNullable<CompanyMaster['notCompared']>[number]

// A holding of 20 % relates two companies; in hundredths of a percent.
const HOLDING_BASIS_POINTS = 2000

/** NONE_FOUND requires data of every party (docs/spec/risk-signals.md#graded-signals). */
export function relatedParty(parties: readonly PartyIdentity[]): RelatedParty {
  const links = new Set<LinkType>()
  for (const [index, one] of parties.entries()) {
    for (const other of parties.slice(index + 1)) {
      for (const link of linksBetween(one, other)) links.add(link)
    }
  }
  const notCompared = [...new Set(parties.flatMap(({ company }) => company?.notCompared ?? []))]
  return { finding: findingOf(links, parties, notCompared), links: [...links], notCompared }
}

function findingOf(
  links: ReadonlySet<LinkType>,
  parties: readonly PartyIdentity[],
  notCompared: readonly NotCompared[],
): RelatedPartyFinding {
  if (links.has('SAME_PAN')) return 'SAME_LEGAL_ENTITY'
  if (links.has('DIRECTOR') || links.has('HOLDING') || links.has('PARENT')) return 'RELATED'
  if (links.size > 0) return 'POSSIBLE'
  const isCompared = parties.every((party) => party.company) && !notCompared.includes('DIRECTOR')
  return isCompared ? 'NONE_FOUND' : 'MISSING'
}

function linksBetween(one: PartyIdentity, other: PartyIdentity): LinkType[] {
  if (one.pan === other.pan) return ['SAME_PAN']
  const links: LinkType[] = []
  const a = one.company
  const b = other.company
  if (holds(a, other.pan) || holds(b, one.pan)) links.push('HOLDING')
  if (isOneGroup(one.group, other.group)) links.push('PARENT')
  if (!a || !b) return links
  if (shares(a.directorIds, b.directorIds)) links.push('DIRECTOR')
  if (a.addressHash !== null && a.addressHash === b.addressHash) links.push('ADDRESS')
  if (shares(a.bankAccountHashes, b.bankAccountHashes)) links.push('BANK_ACCOUNT')
  if (shares(a.phoneHashes, b.phoneHashes)) links.push('PHONE')
  if (shares(a.emailHashes, b.emailHashes)) links.push('EMAIL')
  return links
}

/** Returns true for one ultimate parent, or if one is a parent of the other. */
function isOneGroup(one: PartyIdentity['group'], other: PartyIdentity['group']): boolean {
  if (!one || !other) return false
  const parents = (group: CompanyGroup) => [group.directParentLei, group.ultimateParentLei]
  const isSame = one.ultimateParentLei !== null && one.ultimateParentLei === other.ultimateParentLei
  return isSame || parents(one).includes(other.lei) || parents(other).includes(one.lei)
}

function holds(company: CompanyMaster | null, pan: string): boolean {
  return company?.holdings.some((held) => held.pan === pan && held.basisPoints >= HOLDING_BASIS_POINTS) ?? false
}

function shares(a: readonly string[], b: readonly string[]): boolean {
  return a.some((value) => b.includes(value))
}
