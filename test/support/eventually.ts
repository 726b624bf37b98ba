/** Longest wait for a fact before the test fails. */
const DEFAULT_MS = 15_000

/**
 * Waits for a fact: asks again until the answer is there. A test never waits for a time.
 * @param look gives the fact, or undefined, null or false while it is not yet true
 * @throws Error saying what was waited for
 */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  withinMs = DEFAULT_MS,
): Promise<T> {
  const deadline = Date.now() + withinMs
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== null && found !== false) return found
    if (Date.now() > deadline) throw new Error(`waited ${withinMs} ms in vain for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
