import { setTimeout as sleep } from 'node:timers/promises'

/** Longest wait for a fact before the test fails. Only a failure takes so long, and a busy machine may need most of it. */
export const FACT_MS = 120_000

/** Interval of polls, in milliseconds: at first, and after a while. */
const SOON_MS = 10
const LATER_MS = 120
/** Each poll costs processor time of the product and its servers, so polls become rarer during a wait. */
const SLOWER = 1.3

/**
 * Waits for a fact: polls until the result is truthy. A test never waits for a fixed time.
 * @param look returns the fact, or undefined, null or false while it is not yet true
 * @throws Error with the description of the fact
 */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  withinMs = FACT_MS,
): Promise<T> {
  const since = Date.now()
  for (let pauseMs = SOON_MS; ; pauseMs = Math.min(LATER_MS, pauseMs * SLOWER)) {
    const found = await look()
    if (found !== undefined && found !== null && found !== false) return found
    if (Date.now() > since + withinMs) throw new Error(`timed out after ${withinMs} ms waiting for ${what}`)
    await sleep(pauseMs)
  }
}
