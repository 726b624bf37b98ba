import names from './time-zone-names.json' with { type: 'json' }

const ACCEPTED: ReadonlySet<string> = new Set(names.accepted)
const ALIASES: ReadonlyMap<string, string> = new Map(Object.entries(names.aliases))
/** Every name of the zone database, including old ones, and additional ones of the runtime. */
const IN_DATABASE: ReadonlySet<string> = new Set([
  ...ACCEPTED,
  ...ALIASES.keys(),
  ...Intl.supportedValuesOf('timeZone'),
])

const knownToRuntime = new Map<string, boolean>()

/** Intl alone accepts `utc`, `PST` and offsets (docs/spec/monitoring.md#time-zones). Null if unknown. */
export function resolveTimeZone(name: string): string | null {
  const stored = ALIASES.get(name) ?? (ACCEPTED.has(name) ? name : undefined)
  return stored !== undefined && hasRules(stored) ? stored : null
}

export function isZoneName(name: string): boolean {
  return IN_DATABASE.has(name) && hasRules(name)
}

function hasRules(name: string): boolean {
  const known = knownToRuntime.get(name)
  if (known !== undefined) return known
  const isKnown = canFormat(name)
  knownToRuntime.set(name, isKnown)
  return isKnown
}

function canFormat(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone })
    return true
  } catch {
    return false
  }
}
