/** Keeps the number of attempts under way per target bounded. */
export interface Bulkhead {
  /** @returns what to call when the attempt is over; null when the target has its full share already */
  enter(target: string): (() => void) | null
}

export function createBulkhead(atOnce: number): Bulkhead {
  const underWay = new Map<string, number>()
  return {
    enter(target) {
      const count = underWay.get(target) ?? 0
      if (count >= atOnce) return null
      underWay.set(target, count + 1)
      return () => {
        const left = (underWay.get(target) ?? 1) - 1
        if (left === 0) underWay.delete(target)
        else underWay.set(target, left)
      }
    },
  }
}
