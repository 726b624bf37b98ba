/**
 * What an ingress is started with, so that its memory comes back after a flood (docs/performance.md). Left to itself the
 * runtime lets the young objects of a large machine grow to 128 MB, and the old ones to four times what is in use, and
 * keeps both: connections that are broken off leave nothing behind, but the process looks as if they did.
 */
export const INGRESS_HEAP: readonly string[] = ['--max-semi-space-size=8', '--max-old-space-size=512']
