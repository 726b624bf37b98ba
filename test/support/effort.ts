/**
 * Returns the size of a repeated or random test: a small one in the normal run, the full one with TEST_FULL=1
 * (`make test-all`).
 */
export function effort(quick: number, full: number): number {
  return process.env.TEST_FULL === '1' ? full : quick
}
