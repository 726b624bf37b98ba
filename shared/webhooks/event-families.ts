import type { Family } from '../tenancy/oauth/families.ts'
import { EVENT_TYPES } from './event-types.ts'

type Group<Type extends string> = Type extends `${infer Name}.${string}` ? Name : never

/** The families of which a client needs one to read the events of a group; null is the service's own, which anybody may. */
const FAMILIES_OF_GROUP: Readonly<Record<Group<keyof typeof EVENT_TYPES>, readonly Family[] | null>> = {
  acceptance: ['acceptance', 'risk-signals'],
  agents: ['agents'],
  anchor: null,
  colending: ['colending'],
  first_financing: ['first-financing'],
  identity: ['identity'],
  kyb: ['kyb'],
  lms: ['colending'],
  membership: ['kyb'],
  oid4vp: ['identity'],
  provenance: ['trade'],
  risk_signals: ['risk-signals'],
  securitisation: ['securitisation'],
  webhook: null,
}

/** Filters for the groups of events that a client with these families may read, such as `kyb.*`. */
export function readableGroups(families: readonly Family[]): string[] {
  return Object.entries(FAMILIES_OF_GROUP)
    .filter(([, needed]) => needed === null || needed.some((family) => families.includes(family)))
    .map(([group]) => `${group}.*`)
}

/** The types of those events. */
export function readableEvents(families: readonly Family[]): string[] {
  const groups = new Set(readableGroups(families))
  return Object.keys(EVENT_TYPES).filter((type) => groups.has(`${type.slice(0, type.indexOf('.'))}.*`))
}
