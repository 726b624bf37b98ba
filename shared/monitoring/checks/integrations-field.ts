/** An integration of the project, as the `channels` field may name it. */
export interface NamedIntegration {
  /** lower-case uuid text */
  id: string
  name: string
}

/** What `channels` may hold: more than any project has, and little enough to be looked up while others wait. */
export const MAX_CHANNELS_LENGTH = 65_536
export const MAX_CHANNELS_PIECES = 1_000

export type ChannelsChoice = { ok: true; ids: string[] } | { ok: false; error: string }

/**
 * What the `channels` field means: `*` alone is all integrations, the empty text none, else a list separated by
 * commas whose pieces equal an id or a name exactly, white space included (docs/spec/monitoring.md#create-and-update).
 * @returns ids without repeats, or the text of the first error
 */
export function resolveIntegrations(text: string, channels: readonly NamedIntegration[]): ChannelsChoice {
  if (text === '') return { ok: true, ids: [] }
  if (text === '*') return { ok: true, ids: channels.map((channel) => channel.id) }
  const known = byIdentifier(channels)
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

/** The id that each id and each name stands for; null for one that several integrations share. */
function byIdentifier(channels: readonly NamedIntegration[]): ReadonlyMap<string, string | null> {
  const known = new Map<string, string | null>()
  for (const { id, name } of channels) {
    for (const identifier of new Set([id, name])) known.set(identifier, known.has(identifier) ? null : id)
  }
  return known
}
