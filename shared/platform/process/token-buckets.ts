import { LRUCache } from 'lru-cache'

/** How a bucket stands after it was asked for a token. */
interface Standing {
  granted: boolean
  /** whole tokens left */
  left: number
  /** until the bucket is full again, at least 1 */
  fullInSeconds: number
  /** until it has a token, at least 1 */
  retryAfterSeconds: number
}

export interface TokenBuckets {
  /** Takes one token from the bucket of that name. @param nowMs of a clock that does not matter otherwise */
  take(name: string | number, nowMs: number): Standing
}

const NO_LIMIT: Standing = { granted: true, left: Number.MAX_SAFE_INTEGER, fullInSeconds: 1, retryAfterSeconds: 1 }

/**
 * Token buckets of this process alone: each holds a minute's worth and regains it evenly. The least used are forgotten,
 * which fills them. What all processes count together is in `rate-limits/store.ts`.
 * @param perMinute 0 for no limit
 * @param maxBuckets what bounds the memory
 */
export function createTokenBuckets(perMinute: number, maxBuckets = 50_000): TokenBuckets {
  if (perMinute === 0) return { take: () => NO_LIMIT }
  // Bounded by size, not by count: by count the room for all of them would be taken at once.
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
