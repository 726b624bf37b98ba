/** Milliseconds. The monotonic clock stops while a machine sleeps; the other one can be set. */
export interface Moment {
  monotonic: number
  wall: number
}

export interface Span {
  number: number
  from: Moment
  until: Moment
  /** bit mask */
  shards: bigint
}

/** A proof that comes this much later than planned does not continue the interval: the process was blocked. */
const LATEST_MS = 4_000
/** Maximum number of unstored spans while the database is away. Each is a change of state, so they last for hours. */
const MAX_WAITING = 1_000

/** Time is an argument (docs/spec/alerting.md#listener-heartbeats). */
export interface Attestation {
  /** `shards` is a bit mask, 0n if the listener itself did not respond. */
  prove(began: Moment, shards: bigint): void
  /** oldest first; the newest one may still grow */
  waiting(): readonly Span[]
  /** keeps spans that have grown since */
  stored(spans: readonly Span[]): void
}

export function createAttestation(intervalMs: number): Attestation {
  let spans: Span[] = []
  let current: Span | null = null
  let last: Moment | null = null
  let number = 0

  const begin = (from: Moment, until: Moment, shards: bigint): void => {
    current = { number: ++number, from, until, shards }
    spans.push(current)
    if (spans.length > MAX_WAITING) spans = spans.slice(-MAX_WAITING)
  }
  const grow = (until: Moment): void => {
    if (!current) return
    const grown: Span = { ...current, until }
    spans = [...spans.filter((span) => span.number !== grown.number), grown]
    current = grown
  }

  return {
    prove(began, shards) {
      const before = last
      const isUnbroken =
        before !== null && elapsed(before, began) <= intervalMs + LATEST_MS && began.wall >= before.wall - LATEST_MS
      last = began
      if (!current || !before || !isUnbroken) {
        current = null
        if (shards !== 0n) begin(began, began, shards)
        return
      }
      const kept = current.shards & shards
      // The time between two rounds is proven for the shards that both of them proved.
      if (kept === current.shards) grow(began)
      else if (kept !== 0n) begin(before, began, kept)
      else current = null
      if (shards !== kept && shards !== 0n) begin(began, began, shards)
    },
    waiting: () => spans,
    stored(done) {
      const ends = new Map(done.map((span) => [span.number, span.until]))
      spans = spans.filter((span) => ends.get(span.number) !== span.until)
    },
  }
}

export function elapsed(from: Moment, until: Moment): number {
  return Math.max(until.monotonic - from.monotonic, until.wall - from.wall)
}

/**
 * Returns the milliseconds to the next round: rounds of one interval begin together in a process, so that they are
 * stored together. 0 if the last round took longer than the interval.
 */
export function msToNextRound(intervalMs: number, began: Moment): number {
  const now = performance.now()
  return now - began.monotonic >= intervalMs ? 0 : intervalMs - (now % intervalMs)
}

export function momentNow(): Moment {
  return { monotonic: performance.now(), wall: Date.now() }
}
