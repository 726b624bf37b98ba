import { EVENT_TYPES, OFFERED_EVENTS } from '#shared/webhooks/event-types.ts'

const NAMES: Readonly<Record<keyof typeof EVENT_TYPES, string>> = {
  'acceptance.disputed': 'Receivable disputed or rejected by its buyer',
  'acceptance.recorded': 'Acceptance of a receivable recorded',
  'agents.budget_exhausted': 'Budget of an agent key used up',
  'anchor.included': 'Object covered by a checkpoint',
  'anchor.witnessed': 'Checkpoint cosigned by witnesses',
  'colending.import_finished': 'Import finished or failed',
  'first_financing.conflict': 'Receivable registered by another organisation',
  'first_financing.disputed': 'Registration disputed by another organisation',
  'first_financing.lapsed': 'Registration lapsed, or will in two weeks',
  'first_financing.registered': 'Receivable registered',
  'first_financing.released': 'Registration released',
  'identity.passport_issued': 'Identity passport issued',
  'identity.state_changed': 'State of an identity changed',
  'kyb.completed': 'Business verification finished',
  'lms.event_mapped': 'Event of a loan system recorded as evidence',
  'membership.changed': 'Membership of a business changed',
  'oid4vp.presentation_received': 'Credential presentation received',
  'provenance.pack_issued': 'Trade provenance pack issued',
  'risk_signals.pack_failed': 'Risk signals pack failed',
  'risk_signals.pack_ready': 'Risk signals pack ready',
  'securitisation.pool_cut': 'Cut of a pool frozen',
  'webhook.delivery_exhausted': 'All attempts of a delivery failed',
  'webhook.endpoint_disabled': 'Endpoint switched off by the service',
  'webhook.test': 'Test event',
}

/** Returns an unknown type unchanged. */
export function eventName(type: string): string {
  return isEventType(type) ? NAMES[type] : type
}

function isEventType(type: string): type is keyof typeof EVENT_TYPES {
  return Object.hasOwn(NAMES, type)
}

interface EventGroup {
  name: string
  /** filters of all events of the group, for example `kyb.*` */
  filters: readonly string[]
  types: readonly string[]
}

const GROUPS: readonly EventGroup[] = [
  group('Risk signals packs', 'risk_signals'),
  group('Buyer acceptance', 'acceptance'),
  group('First financing', 'first_financing'),
  group('Businesses', 'kyb', 'membership'),
  group('Identity', 'identity', 'oid4vp'),
  group('Trade provenance', 'provenance'),
  group('Co-lending and loan tapes', 'colending', 'lms'),
  group('Securitisation pools', 'securitisation'),
  group('Agent tools', 'agents'),
  group('Webhooks', 'webhook'),
]

/** Nothing sends these events yet, so only an endpoint that has such a filter shows them. */
const NOT_OFFERED: EventGroup = {
  name: 'Transparency log (not sent yet)',
  filters: ['anchor.*'],
  types: Object.keys(EVENT_TYPES).filter((type) => !OFFERED_EVENTS.includes(type)),
}

function group(name: string, ...prefixes: string[]): EventGroup {
  const types = OFFERED_EVENTS.filter((type) => prefixes.some((prefix) => type.startsWith(`${prefix}.`)))
  return { name, filters: prefixes.map((prefix) => `${prefix}.*`), types }
}

/** @param chosen filters of the endpoint */
export function eventGroups(chosen: readonly string[]): readonly EventGroup[] {
  return chosen.some((filter) => filter.startsWith('anchor.')) ? [...GROUPS, NOT_OFFERED] : GROUPS
}

const MAX_NAMED = 3

/** For example `all events`, or `all of Businesses, Receivable registered, Registration released and 2 more`. */
export function eventsText(filters: readonly string[]): string {
  if (filters.includes('*')) return 'all events'
  const whole = [...GROUPS, NOT_OFFERED].filter((one) => one.filters.every((filter) => filters.includes(filter)))
  const others = filters.filter((filter) => !whole.some((one) => one.filters.includes(filter)))
  const names = [
    ...whole.map(({ name }) => `all of ${name}`),
    ...others.map((filter) => (filter.endsWith('.*') ? `all of ${filter}` : eventName(filter))),
  ]
  const named = names.slice(0, MAX_NAMED).join(', ')
  return names.length > MAX_NAMED ? `${named} and ${names.length - MAX_NAMED} more` : named
}
