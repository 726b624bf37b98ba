export interface NamedIntegration {
  /** lower-case uuid text */
  id: string
  name: string
}

/** Limits of `channels`, above the size of any project, so that a request cannot block the process. */
export const MAX_INTEGRATIONS_LENGTH = 65_536
export const MAX_INTEGRATIONS_PIECES = 1_000

export type IntegrationsChoice = { ok: true; ids: string[] } | { ok: false; error: string }

/**
 * `*` is all integrations; each piece between commas must equal an id or a name, including white space
 * (docs/spec/monitoring.md#channels-field). Returns ids without repeats, or the first error.
 */
export function resolveIntegrations(text: string, integrations: readonly NamedIntegration[]): IntegrationsChoice {
  if (text === '') return { ok: true, ids: [] }
  if (text === '*') return { ok: true, ids: integrations.map((integration) => integration.id) }
  const known = byIdentifier(integrations)
  const ids = new Set<string>()
  for (const piece of text.split(',')) {
    if (piece === '') return { ok: false, error: 'empty channel identifier' }
    const id = known.get(piece)
    if (id === undefined) return { ok: false, error: `invalid channel identifier: ${piece}` }
    if (id === null) return { ok: false, error: `non-unique channel identifier: ${piece}` }
    ids.add(id)
  }
  return { ok: true, ids: [...ids] }
}

/** Contains null if several integrations share a name. */
function byIdentifier(integrations: readonly NamedIntegration[]): ReadonlyMap<string, string | null> {
  const known = new Map<string, string | null>()
  for (const { id, name } of integrations) {
    for (const identifier of new Set([id, name])) known.set(identifier, known.has(identifier) ? null : id)
  }
  return known
}
