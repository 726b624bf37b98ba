import { ANY_INCIDENT, type IncidentFilter } from '#shared/monitoring/alerting/incident-list.ts'
import { SEVERITIES } from '#shared/monitoring/alerting/policy.ts'
import { type Micros, microsOfSeconds } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'

export const TABS = [
  { id: 'open', label: 'All open' },
  { id: 'acknowledged', label: 'Acknowledged' },
  { id: 'resolved', label: 'Resolved' },
  { id: 'mine', label: 'Mine' },
] as const
export type Tab = (typeof TABS)[number]['id']

export const SINCE = [
  { value: '1', label: 'Last 24 hours' },
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
] as const

export const FILTER_NAMES = ['q', 'severity', 'policy', 'person', 'since', 'tag'] as const

/** Text as typed; '' without a filter. */
export type ListQuery = { tab: Tab } & Record<(typeof FILTER_NAMES)[number], string>

export function readListQuery(query: URLSearchParams): ListQuery {
  const text = (name: string) => cleaned(query.get(name) ?? '')
  return {
    tab: TABS.find(({ id }) => id === query.get('tab'))?.id ?? 'open',
    q: text('q'),
    severity: text('severity'),
    policy: text('policy'),
    person: text('person'),
    since: text('since'),
    tag: text('tag'),
  }
}

function cleaned(text: string): string {
  return text.toWellFormed().replaceAll('\0', '').trim().slice(0, 254)
}

/** Ignores invalid values. @param own address of the signed-in user, for the tab of that user */
export function filterOf(query: ListQuery, tab: Tab, own: string, now: Micros): IncidentFilter {
  const days = SINCE.find(({ value }) => value === query.since)
  return {
    ...ANY_INCIDENT,
    state: tab === 'mine' ? 'open' : tab,
    severity: SEVERITIES.find((severity) => severity === query.severity) ?? null,
    policy: isUuid(query.policy) ? query.policy : null,
    person: tab === 'mine' ? own : query.person || null,
    tag: query.tag || null,
    q: query.q || null,
    from: days ? now - microsOfSeconds(Number(days.value) * 86_400) : null,
  }
}

export function listAddress(
  path: string,
  query: Partial<ListQuery>,
  cursor: Readonly<Record<string, string>> = {},
): string {
  const { tab = 'open', ...filters } = query
  const chosen = Object.entries({ ...filters, ...cursor }).filter(([, value]) => value !== '')
  const text = new URLSearchParams([
    ...(tab === 'open' ? [] : [['tab', tab] as [string, string]]),
    ...chosen,
  ]).toString()
  return text === '' ? path : `${path}?${text}`
}
