/**
 * How long a listener that does not beat counts for the sweep: then it is taken to be gone. Longer than most outages of
 * a database, because a listener whose beat lapses refuses pings that are confirmed slowly.
 */
export const LEASE_MS = 120_000
/** Since the last beat that was stored: less than the lease, for all that a beat may take on its way. */
const LAPSES_AFTER_MS = 100_000
/** How far a deadline must lie back, for listeners that the sweep does not know of yet, or any more. */
export const ARRIVAL_SLACK_MS = 1_000
/** What such a listener may take to answer: the rest of the slack is for clocks that differ. */
const UNCOVERED_MS = 500

/** When something arrived, on two clocks of this process; milliseconds. */
export interface Arrival {
  monotonic: number
  wall: number
}

/**
 * Decides whether a ping that the broker has may still be answered with success. The sweep relies on it for each
 * listener whose beat it cannot see (docs/adr/0008): what was in the queue too late must have been refused.
 */
export interface Cover {
  /** A beat was stored. @param sentAt when it was sent, monotonic milliseconds */
  extend(sentAt: number, now: Arrival): void
  mayAnswer(arrival: Arrival, now: Arrival): boolean
  /** monotonic milliseconds of the newest beat that was stored; null before the first */
  lastHeartbeat(): number | null
}

/** @param settlesWithinMs what the beats of this listener promise: no ping is answered with success later */
export function createCover(settlesWithinMs: number): Cover {
  /** arrivals from here on are known to be covered; null while none are */
  let since: number | null = null
  let lastHeartbeat: number | null = null
  const isLapsed = (at: number) => lastHeartbeat === null || at - lastHeartbeat > LAPSES_AFTER_MS

  return {
    extend(sentAt, now) {
      if (isLapsed(now.monotonic)) since = null
      since ??= now.monotonic
      lastHeartbeat = sentAt
    },
    mayAnswer(arrival, now) {
      // The monotonic clock stands still while a machine sleeps, the other one may be set: the longer one counts.
      const age = Math.max(now.monotonic - arrival.monotonic, now.wall - arrival.wall)
      if (age <= UNCOVERED_MS) return true
      if (isLapsed(now.monotonic)) since = null
      return since !== null && arrival.monotonic >= since && age <= settlesWithinMs
    },
    lastHeartbeat: () => lastHeartbeat,
  }
}

export function arrivalNow(): Arrival {
  return { monotonic: performance.now(), wall: Date.now() }
}
