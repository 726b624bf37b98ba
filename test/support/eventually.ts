import { setTimeout as sleep } from 'node:timers/promises'

/** Longest wait for a fact before the test fails. Only a failure takes so long, and a busy machine may need most of it. */
export const FACT_MS = 120_000

/** Interval of polls, in milliseconds: at first, and after a while. */
const SOON_MS = 10
const LATER_MS = 120
/** Each look costs the product and its servers something, and many tests look at a time: those that wait longer look less. */
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
    if (Date.now() > since + withinMs) throw new Error(`waited ${withinMs} ms in vain for ${what}`)
    await sleep(pauseMs)
  }
}
