import { LRUCache } from 'lru-cache'

/** Maximum age of cached public data. */
const SHORT_MS = 3_000
const MAX_ENTRIES = 1_000

export type ShortCache<T> = (name: string, read: () => Promise<T>) => Promise<T>

/**
 * Reads at most once in three seconds per name. Concurrent requests share a read; failures are not cached.
 * @param max number of cached names
 */
export function createShortCache<T>(max = MAX_ENTRIES): ShortCache<T> {
  // Expired entries are purged by a timer, because a page with its history takes several MB.
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
