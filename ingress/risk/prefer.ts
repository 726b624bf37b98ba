/** How long a caller wants to wait (RFC 7240). `applied` is what Preference-Applied says; null when nothing was preferred. */
export interface WaitPreference {
  waitMs: number
  applied: string | null
}

const DEFAULT_WAIT_MS = 10_000
const MAX_WAIT_SECONDS = 25

/** Reads `Prefer`: `respond-async` waits not at all, `wait=N` at most 25 s; anything else is ignored. */
export function readPreference(prefer: string | string[] | undefined): WaitPreference {
  const preferences = String(prefer ?? '')
    .split(',')
    .map((item) => item.split(';', 1)[0]?.trim().toLowerCase() ?? '')
  if (preferences.includes('respond-async')) return { waitMs: 0, applied: 'respond-async' }
  const wait = preferences.map((item) => /^wait\s*=\s*"?([0-9]{1,6})"?$/.exec(item)?.[1]).find(Boolean)
  if (wait === undefined) return { waitMs: DEFAULT_WAIT_MS, applied: null }
  const seconds = Math.min(Number(wait), MAX_WAIT_SECONDS)
  return { waitMs: seconds * 1000, applied: `wait=${seconds}` }
}
