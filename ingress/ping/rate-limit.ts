import { LRUCache } from 'lru-cache'

/**
 * Pings per check and minute, counted by this process alone: it keeps a runaway client from crowding out the others,
 * and is no quota. @param perMinute 0 for no limit
 */
export function createPingLimiter(perMinute: number): (checkId: number, nowMs: number) => boolean {
  if (perMinute === 0) return () => true
  const buckets = new LRUCache<number, { tokens: number; at: number }>({ max: 100_000 })
  return (checkId, nowMs) => {
    const bucket = buckets.get(checkId) ?? { tokens: perMinute, at: nowMs }
    bucket.tokens = Math.min(perMinute, bucket.tokens + ((nowMs - bucket.at) / 60_000) * perMinute)
    bucket.at = nowMs
    buckets.set(checkId, bucket)
    if (bucket.tokens < 1) return false
    bucket.tokens -= 1
    return true
  }
}
