/** How long a caller wants to wait (RFC 7240). `applied` is what Preference-Applied says; null when nothing was preferred. */
export interface WaitPreference {
  waitMs: number
  applied: string | null
}

const DEFAULT_WAIT_MS = 10_000
const MAX_WAIT_SECONDS = 25

/**
 * Reads `Prefer`: `wait=N` waits at most 25 s, `respond-async` alone does not wait, and both wait for N seconds
 * (RFC 7240 section 4.3). Other preferences are ignored.
 */
export function readPreference(prefer: string | string[] | undefined): WaitPreference {
  const preferences = String(prefer ?? '')
    .split(',')
    .map((item) => item.split(';', 1)[0]?.trim().toLowerCase() ?? '')
  const isAsync = preferences.includes('respond-async')
  const wait = preferences.map((item) => /^wait\s*=\s*"?([0-9]{1,6})"?$/.exec(item)?.[1]).find(Boolean)
  if (wait === undefined) {
    return isAsync ? { waitMs: 0, applied: 'respond-async' } : { waitMs: DEFAULT_WAIT_MS, applied: null }
  }
  const seconds = Math.min(Number(wait), MAX_WAIT_SECONDS)
  return { waitMs: seconds * 1000, applied: `${isAsync ? 'respond-async, ' : ''}wait=${seconds}` }
}
