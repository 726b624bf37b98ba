import { LRUCache } from 'lru-cache'

/** How a caller stands after one more request. */
export interface Standing {
  quota: number
  remaining: number
  /** seconds until the window ends */
  resetSeconds: number
  isOver: boolean
}

export interface RateLimiter {
  /** Counts a request of one bucket. @returns null when there is no limit */
  take(bucket: string, nowMs: number): Standing | null
}

const WINDOW_MS = 60_000

/** Fixed windows of a minute in memory, per process. @param quota requests of one bucket in a minute; 0 is no limit */
export function createRateLimiter(quota: number): RateLimiter {
  const windows = new LRUCache<string, { startedAt: number; count: number }>({ max: 50_000 })
  return {
    take(bucket, nowMs) {
      if (quota === 0) return null
      const known = windows.get(bucket)
      const window = known && nowMs - known.startedAt < WINDOW_MS ? known : { startedAt: nowMs, count: 0 }
      window.count += 1
      windows.set(bucket, window)
      return {
        quota,
        remaining: Math.max(0, quota - window.count),
        resetSeconds: Math.max(1, Math.ceil((window.startedAt + WINDOW_MS - nowMs) / 1000)),
        isOver: window.count > quota,
      }
    },
  }
}
