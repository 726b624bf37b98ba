import { setTimeout as pause } from 'node:timers/promises'
import { FACT_MS } from './eventually.ts'

/**
 * Waits until that many entries, or one that matches, are recorded. Polls, and
 * reports the entries when the deadline passes.
 */
export async function waitUntil<T>(
  recorded: readonly T[],
  wanted: number | ((entry: T) => boolean),
  what: string,
  deadlineMs = FACT_MS,
): Promise<T> {
  const deadline = Date.now() + deadlineMs
  for (;;) {
    const found = typeof wanted === 'number' ? recorded[wanted - 1] : recorded.find(wanted)
    if (found !== undefined) return found
    if (Date.now() > deadline)
      throw new Error(`${what}: timed out with ${recorded.length} recorded entries, none of which matches`)
    await pause(5)
  }
}
