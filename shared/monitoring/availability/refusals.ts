interface Refused {
  checkId: number
  count: number
  /** monotonic milliseconds of the last refusal */
  lastAt: number
}

/** Maximum number of checks with counts while the database is unavailable; beyond it the listener is not proven. */
const MAX_CHECKS = 10_000

/** Counts pings that a listener refused for internal reasons (docs/spec/alerting.md#listener-heartbeats). */
export interface Refusals {
  /** @param at monotonic milliseconds */
  count(checkId: number, at: number): void
  /** counts a ping whose check could not be found, so that any check may lack it */
  countUnresolved(): void
  /** returns true if an unresolved ping was counted since the last call */
  takeUnresolved(): boolean
  waiting(): readonly Refused[]
  stored(refused: readonly Refused[]): void
}

export function createRefusals(): Refusals {
  const counts = new Map<number, Refused>()
  let hasUnresolved = false
  return {
    count(checkId, at) {
      const earlier = counts.get(checkId)
      if (earlier || counts.size < MAX_CHECKS)
        counts.set(checkId, { checkId, count: (earlier?.count ?? 0) + 1, lastAt: at })
      else hasUnresolved = true
    },
    countUnresolved() {
      hasUnresolved = true
    },
    takeUnresolved() {
      const taken = hasUnresolved
      hasUnresolved = false
      return taken
    },
    waiting: () => [...counts.values()],
    stored(refused) {
      for (const { checkId, count } of refused) {
        const now = counts.get(checkId)
        if (!now || now.count <= count) counts.delete(checkId)
        else counts.set(checkId, { ...now, count: now.count - count })
      }
    },
  }
}
