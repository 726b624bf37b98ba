/** An integration of the project, as the `channels` field may name it. */
export interface NamedChannel {
  /** lower-case uuid text */
  id: string
  name: string
}

export type ChannelsChoice = { ok: true; ids: string[] } | { ok: false; error: string }

/**
 * What the `channels` field means: `*` alone is all integrations, the empty text none, else a list separated by
 * commas whose pieces equal an id or a name exactly, white space included (monitoring behaviour 5.5).
 * @returns ids without repeats, or the text of the first error
 */
export function resolveChannels(text: string, channels: readonly NamedChannel[]): ChannelsChoice {
  if (text === '') return { ok: true, ids: [] }
  if (text === '*') return { ok: true, ids: channels.map((channel) => channel.id) }
  const ids = new Set<string>()
  for (const piece of text.split(',')) {
    if (piece === '') return { ok: false, error: 'empty channel identifier' }
    const [match, another] = channels.filter((channel) => channel.id === piece || channel.name === piece)
    if (!match) return { ok: false, error: `invalid channel identifier: ${piece}` }
    if (another) return { ok: false, error: `non-unique channel identifier: ${piece}` }
    ids.add(match.id)
  }
  return { ok: true, ids: [...ids] }
}
