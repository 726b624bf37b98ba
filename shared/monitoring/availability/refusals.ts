interface Refused {
  checkId: number
  count: number
  /** monotonic milliseconds of the last refusal */
  lastAt: number
}

/** Maximum number of counted checks while the database is away; beyond it the listener is not proven. */
const MAX_CHECKS = 10_000

/** Counts pings that a listener refused for internal reasons (docs/spec/alerting.md#listener-heartbeats). */
export interface Refusals {
  known(checkId: number, at: number): void
  /** the check of the ping is unknown, so it may be any check */
  unresolved(): void
  takeUnresolved(): boolean
  waiting(): readonly Refused[]
  stored(refused: readonly Refused[]): void
}

export function createRefusals(): Refusals {
  const counts = new Map<number, Refused>()
  let hasUnresolved = false
  return {
    known(checkId, at) {
      const known = counts.get(checkId)
      if (known || counts.size < MAX_CHECKS)
        counts.set(checkId, { checkId, count: (known?.count ?? 0) + 1, lastAt: at })
      else hasUnresolved = true
    },
    unresolved() {
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
