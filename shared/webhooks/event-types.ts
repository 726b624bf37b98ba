import type { Family } from '../tenancy/oauth/families.ts'

/** See docs/spec/transparency.md#webhook-delivery. */
export const EVENT_TYPES = {
  'acceptance.disputed': 'A buyer disputed or rejected a receivable',
  'acceptance.recorded': 'An acceptance of a receivable was recorded',
  'agents.budget_exhausted': 'An agent key used up a budget for the day or month; dealId is the id of the key',
  'anchor.included': 'A checkpoint covers an anchored object',
  'anchor.witnessed': 'The witnesses cosigned a checkpoint that covers an anchored object',
  'colending.import_finished': 'A loan tape or bureau file was imported, or failed; dealId is the id of the import',
  'first_financing.conflict': 'A receivable is registered by another organisation',
  'first_financing.disputed': 'Another organisation disputes a registration',
  'first_financing.lapsed': 'A registration lapsed, or a financed one will in two weeks; its fields show which',
  'first_financing.registered': 'A receivable was registered',
  'first_financing.released': 'A registration was released',
  'identity.passport_issued': 'A passport was issued',
  'identity.state_changed': 'An identity changed its state',
  'kyb.completed': 'A business verification ended',
  'lms.event_mapped': 'An inbound loan event was mapped into the evidence contract',
  'membership.changed': 'A membership of a verified entity changed',
  'oid4vp.presentation_received': 'A credential presentation was received',
  'provenance.pack_issued': 'A trade provenance pack was issued',
  'risk_signals.pack_failed': 'A risk-signals pack could not be composed',
  'risk_signals.pack_ready': 'A risk-signals pack is ready',
  'securitisation.pool_cut': 'A cut of a pool was frozen; dealId is the id of the pool',
  'webhook.delivery_exhausted': 'Every attempt of the retry schedule failed; dealId is the id of the delivery',
  'webhook.endpoint_disabled': 'The service switched an endpoint off; dealId is the id of the endpoint',
  'webhook.test': 'Sent on request, to try an endpoint',
} as const

/** Filters may name types that no code emits yet, but the list of types does not offer them. */
const NOT_EMITTED: ReadonlySet<string> = new Set(['anchor.included', 'anchor.witnessed'])

export const OFFERED_EVENTS: readonly string[] = Object.keys(EVENT_TYPES).filter((type) => !NOT_EMITTED.has(type))

export const TEST_EVENT = 'webhook.test'

const ALL_EVENTS = '*'

const GROUPS = new Set(Object.keys(EVENT_TYPES).map((type) => `${type.slice(0, type.indexOf('.'))}.*`))

export function isEventFilter(text: string): boolean {
  return text === ALL_EVENTS || Object.hasOwn(EVENT_TYPES, text) || GROUPS.has(text)
}

export function filtersMatching(type: string): string[] {
  const parts = type.split('.')
  const groups = parts.slice(1).map((_, index) => `${parts.slice(0, index + 1).join('.')}.*`)
  return [ALL_EVENTS, ...groups, type]
}

/** Events about deliveries trigger no further event. */
export function isOperational(type: string): boolean {
  return type.startsWith('webhook.')
}

type Group<Type extends string> = Type extends `${infer Name}.${string}` ? Name : never

/** A client needs one of these families; null: every client may read the group. */
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

/** For example `kyb.*`. */
export function readableGroups(families: readonly Family[]): string[] {
  return Object.entries(FAMILIES_OF_GROUP)
    .filter(([, needed]) => needed === null || needed.some((family) => families.includes(family)))
    .map(([group]) => `${group}.*`)
}

export function readableEvents(families: readonly Family[]): string[] {
  const groups = new Set(readableGroups(families))
  return Object.keys(EVENT_TYPES).filter((type) => groups.has(`${type.slice(0, type.indexOf('.'))}.*`))
}
