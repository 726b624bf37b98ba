/** Counts bytes in memory against a total and against a share of each holder. */
export interface ByteBudget {
  /**
   * Takes bytes, or returns some if negative. Returns false, and takes nothing, above a limit.
   * @param holder null for one without a share
   */
  take(holder: string | null, bytes: number): boolean
}

export function createByteBudget(limits: { total: number; perHolder: number }): ByteBudget {
  let left = limits.total
  const heldBy = new Map<string, number>()
  return {
    take(holder, bytes) {
      const held = holder === null ? 0 : (heldBy.get(holder) ?? 0) + bytes
      if (bytes > 0 && (bytes > left || held > limits.perHolder)) return false
      left -= bytes
      if (holder === null) return true
      if (held === 0) heldBy.delete(holder)
      else heldBy.set(holder, held)
      return true
    },
  }
}

/**
 * Returns the size of a buffer that must hold `needed` bytes. It at least doubles, because the sender decides how small
 * the pieces are.
 */
export function grownSize(size: number, needed: number, max: number): number {
  if (needed <= size) return size
  return Math.min(max, Math.max(size * 2, needed))
}
