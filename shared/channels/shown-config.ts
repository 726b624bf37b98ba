import type { ChannelKind } from './kind.ts'

export type ConfigObject = Readonly<Record<string, unknown>>

/** A configuration as it may be shown: without the members that are written and never shown again. */
export function shownConfig(kind: Pick<ChannelKind, 'secretFields'>, config: ConfigObject): ConfigObject {
  return Object.fromEntries(Object.entries(config).filter(([name]) => !kind.secretFields.includes(name)))
}

/** A configuration as given, its missing secret members taken from the stored one: what was shown can be sent back. */
export function withStoredSecrets(
  kind: Pick<ChannelKind, 'secretFields'>,
  given: ConfigObject,
  stored: ConfigObject,
): ConfigObject {
  const kept = Object.entries(stored).filter(
    ([name]) => kind.secretFields.includes(name) && !Object.hasOwn(given, name),
  )
  return { ...Object.fromEntries(kept), ...given }
}
