/** Milliseconds on two clocks of a process: one stands still while a machine sleeps, the other one may be set. */
export interface Moment {
  monotonic: number
  wall: number
}

/** An interval in which a door proved that it takes pings of these shards. */
export interface Span {
  /** grows within the process */
  number: number
  from: Moment
  until: Moment
  /** bit mask */
  shards: bigint
}

/** Proofs that come later after the one before than this leave a hole: the process stood still. */
const LATEST_MS = 4_000
/** Spans kept for a database that is away; each is a change of ability, so they last for hours. */
const MAX_WAITING = 1_000

/** Proofs of one listener that are not stored yet (docs/spec/alerting.md#listener-heartbeats). Without IO; time is an argument. */
export interface Attestation {
  /**
   * A round of proofs that began at a moment.
   * @param shards bit mask of those that took a message; 0n when the door itself did not answer
   */
  prove(began: Moment, shards: bigint): void
  /** what has to be stored, oldest first: the newest one may still grow */
  waiting(): readonly Span[]
  /** These were stored; what grew meanwhile stays. */
  stored(spans: readonly Span[]): void
}

/** @param everyMs time between two rounds */
export function createAttestation(everyMs: number): Attestation {
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
        before !== null && elapsed(before, began) <= everyMs + LATEST_MS && began.wall >= before.wall - LATEST_MS
      last = began
      if (!current || !before || !isUnbroken) {
        current = null
        if (shards !== 0n) begin(began, began, shards)
        return
      }
      const kept = current.shards & shards
      // Ability between two rounds is proven for what both of them found.
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

/** Time that passed, by the clock that says more of it. */
export function elapsed(from: Moment, until: Moment): number {
  return Math.max(until.monotonic - from.monotonic, until.wall - from.wall)
}
