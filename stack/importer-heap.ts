/**
 * What a process of the tape importer alone is started with, so that a tape takes less than 64 MB. Nearly all that it
 * makes is young and soon of no use; left to itself the runtime lets the young objects of a large machine grow to 128 MB
 * with the first tape, and what outlives them to several times what is in use (docs/performance.md).
 */
export const IMPORTER_HEAP: readonly string[] = ['--max-semi-space-size=4', '--max-old-space-size=256']
