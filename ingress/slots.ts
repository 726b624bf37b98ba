import { UnavailableError } from '#shared/errors.ts'

/** Limits concurrency per key. */
export interface Slots {
  run<T>(name: string, work: () => Promise<T>): Promise<T>
}

/** @param concurrency maximum per key */
export function createSlots(concurrency: number): Slots {
  const busy = new Map<string, { running: number; waiting: PromiseWithResolvers<void>[] }>()

  return {
    async run<T>(name: string, work: () => Promise<T>): Promise<T> {
      const slot = busy.get(name) ?? { running: 0, waiting: [] }
      busy.set(name, slot)
      if (slot.running < concurrency) slot.running += 1
      else {
        const waiter = Promise.withResolvers<void>()
        slot.waiting.push(waiter)
        await waiter.promise
      }
      try {
        return await work()
      } catch (error) {
        // Refuses waiting calls too, because they would only wait for the same failure.
        if (error instanceof UnavailableError) for (const waiter of slot.waiting.splice(0)) waiter.reject(error)
        throw error
      } finally {
        const next = slot.waiting.shift()
        if (next) next.resolve()
        else {
          slot.running -= 1
          if (slot.running === 0) busy.delete(name)
        }
      }
    },
  }
}

/** Limits bytes in memory in total and per holder. */
export interface ByteBudget {
  /**
   * Takes bytes, or returns them if negative. Above a limit it returns false and takes nothing.
   * @param holder null for a holder without a limit
   */
  take(holder: string | null, bytes: number): boolean
}

export function createByteBudget(limits: { total: number; perHolder: number }): ByteBudget {
  let left = limits.total
  const bytesByHolder = new Map<string, number>()
  return {
    take(holder, bytes) {
      const held = holder === null ? 0 : (bytesByHolder.get(holder) ?? 0) + bytes
      if (bytes > 0 && (bytes > left || held > limits.perHolder)) return false
      left -= bytes
      if (holder === null) return true
      if (held === 0) bytesByHolder.delete(holder)
      else bytesByHolder.set(holder, held)
      return true
    },
  }
}

/**
 * Returns a buffer size for `needed` bytes. It at least doubles, because the sender decides how small the chunks are.
 */
export function grownSize(size: number, needed: number, max: number): number {
  if (needed <= size) return size
  return Math.min(max, Math.max(size * 2, needed))
}
