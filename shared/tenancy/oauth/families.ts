/**
 * Access needs the organisation's entitlement, and the scope on client and token
 * (docs/spec/risk-signals.md#oauth-tokens). Acceptance signals may also be granted alone; only the acceptance family
 * records them. Evidence of securitisation needs a separate key, without scopes.
 */
const FAMILY_SCOPES = {
  identity: ['identity:read', 'identity:write'],
  kyb: ['kyb:read', 'kyb:write'],
  'first-financing': ['first-financing:check', 'first-financing:register'],
  'risk-signals': ['risk-signals:run', 'risk-signals:read', 'acceptance:read'],
  acceptance: ['acceptance:read', 'acceptance:write'],
  trade: ['trade:read', 'trade:write'],
  colending: ['colending:read', 'colending:write'],
  securitisation: [],
  integration: ['integration:manage'],
  agents: ['agents:invoke', 'agents:manage'],
} as const

export type Family = keyof typeof FAMILY_SCOPES
/** Scopes outside the families: a client has one only if it was granted explicitly. */
export const CLIENT_SCOPES = ['usage:read', 'webhooks:manage'] as const
export type ClientScope = (typeof CLIENT_SCOPES)[number]
export type Scope = (typeof FAMILY_SCOPES)[Family][number] | ClientScope

/** Scopes of operations that do not exist yet: they can be granted but are not offered. */
const NOT_OFFERED: ReadonlySet<string> = new Set(['integration'])

export const OFFERED_SCOPES: readonly string[] = [
  ...new Set<string>([...CLIENT_SCOPES, ...Object.values(FAMILY_SCOPES).flat()]),
]
  .filter((scope) => !NOT_OFFERED.has(scope.split(':', 1)[0] ?? ''))
  .toSorted()

export const FAMILIES: readonly Family[] = [
  'identity',
  'kyb',
  'first-financing',
  'risk-signals',
  'acceptance',
  'trade',
  'colending',
  'securitisation',
  'integration',
  'agents',
]

function isFamily(name: string): name is Family {
  return Object.hasOwn(FAMILY_SCOPES, name)
}

export function scopesOf(families: Iterable<string>, granted: readonly ClientScope[]): string[] {
  const scopes = new Set<string>(granted)
  for (const family of families) {
    if (isFamily(family)) for (const scope of FAMILY_SCOPES[family]) scopes.add(scope)
  }
  return [...scopes].toSorted()
}

/** The client holds a scope of them; includes families that have no scopes. */
export function familiesOf(client: { families: readonly string[]; scopes: readonly string[] }): Family[] {
  return client.families.filter(isFamily).filter((family) => {
    const scopes: readonly Scope[] = FAMILY_SCOPES[family]
    return scopes.length === 0 || scopes.some((scope) => client.scopes.includes(scope))
  })
}

/** Comma-separated. Returns the first unknown name if there is one. */
export function parseClientScopes(text: string): { scopes: ClientScope[] } | { unknown: string } {
  const names = text.split(',').map((item) => item.trim())
  const unknown = names.find((name) => !CLIENT_SCOPES.some((scope) => scope === name))
  if (unknown !== undefined) return { unknown }
  return { scopes: CLIENT_SCOPES.filter((scope) => names.includes(scope)) }
}

/** `all` or comma-separated. Returns the first unknown name if there is one. */
export function parseFamilies(text: string): { families: Family[] } | { unknown: string } {
  if (text.trim() === 'all') return { families: [...FAMILIES] }
  const families: Family[] = []
  for (const name of text.split(',').map((item) => item.trim())) {
    if (!isFamily(name)) return { unknown: name }
    if (!families.includes(name)) families.push(name)
  }
  return { families }
}
