import { LRUCache } from 'lru-cache'

interface Standing {
  granted: boolean
  left: number
  /** seconds until the bucket is full again, at least 1 */
  fullInSeconds: number
  /** seconds until it has a token, at least 1 */
  retryAfterSeconds: number
}

export interface TokenBuckets {
  /** The clock is any that does not run backwards. */
  take(name: string | number, nowMs: number): Standing
}

const NO_LIMIT: Standing = { granted: true, left: Number.MAX_SAFE_INTEGER, fullInSeconds: 1, retryAfterSeconds: 1 }

/**
 * Limits of this process only; those over all processes are in `rate-limits/store.ts`. The least recently used
 * buckets are dropped, which fills them. 0 means no limit.
 */
export function createTokenBuckets(perMinute: number, maxBuckets = 50_000): TokenBuckets {
  if (perMinute === 0) return { take: () => NO_LIMIT }
  // Bounded by size, not by count: a count would allocate all entries at once.
  const buckets = new LRUCache<string | number, { tokens: number; at: number }>({
    maxSize: maxBuckets,
    sizeCalculation: () => 1,
  })
  const perMs = perMinute / 60_000
  const seconds = (tokens: number) => Math.max(1, Math.ceil(tokens / perMs / 1000))
  return {
    take(name, nowMs) {
      const bucket = buckets.get(name) ?? { tokens: perMinute, at: nowMs }
      bucket.tokens = Math.min(perMinute, bucket.tokens + Math.max(0, nowMs - bucket.at) * perMs)
      bucket.at = nowMs
      const granted = bucket.tokens >= 1
      if (granted) bucket.tokens -= 1
      buckets.set(name, bucket)
      return {
        granted,
        left: Math.floor(bucket.tokens),
        fullInSeconds: seconds(perMinute - bucket.tokens),
        retryAfterSeconds: seconds(1 - bucket.tokens),
      }
    },
  }
}
