/** Pings of one check that were refused, since they were last stored. */
interface Refused {
  checkId: number
  count: number
  /** monotonic milliseconds of the last one */
  lastAt: number
}

/** Counts of checks kept for a database that is away; beyond them the door proves nothing. */
const MAX_CHECKS = 10_000

/** Counts pings that a listener refused for internal reasons (docs/spec/alerting.md#listener-heartbeats). */
export interface Refusals {
  /** A ping of a known check was answered with an error of ours. */
  known(checkId: number, at: number): void
  /** A ping was refused and nobody knows whose it was: whatever it was, it may have been anybody's. */
  unresolved(): void
  /** Whether a refusal since the last call cannot be laid to a check. */
  takeUnresolved(): boolean
  waiting(): readonly Refused[]
  /** These were stored; what came meanwhile stays. */
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
