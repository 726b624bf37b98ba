import { LRUCache } from 'lru-cache'

/** For how long the public is shown what was read before, in milliseconds. */
const SHORT_MS = 3_000
const MAX_ENTRIES = 1_000

/** Reads under a name, or gives what was read under it a moment ago. */
export type ShortCache<T> = (name: string, read: () => Promise<T>) => Promise<T>

/**
 * Reads at most once in three seconds, for any number of clients: requests during a read share it. Failures are not
 * cached.
 * @param max names that are kept at a time
 */
export function createShortCache<T>(max = MAX_ENTRIES): ShortCache<T> {
  // Expired entries are purged by a timer, because a page with its history takes some MB.
  const kept = new LRUCache<string, Promise<T>>({ max, ttl: SHORT_MS, ttlAutopurge: true })
  return (name, read) => {
    const known = kept.get(name)
    if (known) return known
    const fresh = read()
    kept.set(name, fresh)
    fresh.catch(() => kept.delete(name))
    return fresh
  }
}
