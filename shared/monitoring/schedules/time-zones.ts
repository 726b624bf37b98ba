import names from './time-zone-names.json' with { type: 'json' }

const ACCEPTED: ReadonlySet<string> = new Set(names.accepted)
const ALIASES: ReadonlyMap<string, string> = new Map(Object.entries(names.aliases))
/** Every name of the zone database, old ones included, plus whatever a newer runtime brings. */
const IN_DATABASE: ReadonlySet<string> = new Set([
  ...ACCEPTED,
  ...ALIASES.keys(),
  ...Intl.supportedValuesOf('timeZone'),
])

/** Grows to the size of the lists above at most. */
const knownToRuntime = new Map<string, boolean>()

/**
 * The zone name to store for a name a client sent (docs/spec/monitoring.md#time-zones): exact and case-sensitive, old names
 * replaced by their present ones. Intl alone would not do: it takes `utc`, `PST` and offsets.
 * @returns null when it is no valid zone, or one whose rules this runtime does not have
 */
export function resolveTimeZone(name: string): string | null {
  const stored = ALIASES.get(name) ?? (ACCEPTED.has(name) ? name : undefined)
  return stored !== undefined && hasRules(stored) ? stored : null
}

/** Whether this is the exact name of a zone, as looked up inside OnCalendar lines: old names stay as they are (7.4). */
export function isZoneName(name: string): boolean {
  return IN_DATABASE.has(name) && hasRules(name)
}

function hasRules(name: string): boolean {
  const known = knownToRuntime.get(name)
  if (known !== undefined) return known
  const answer = canFormat(name)
  knownToRuntime.set(name, answer)
  return answer
}

function canFormat(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone })
    return true
  } catch {
    return false
  }
}
