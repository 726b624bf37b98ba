import type { Micros } from '#shared/time.ts'

/** Other processes record each comparison of an idle log within 10 s. */
const OBSERVED_MS = 30_000

/** Finds out if another process compares the log with its own copy of the signed checkpoint. */
export interface OtherSequencers {
  /** @param steppedAt time of the last recorded comparison. @returns absent if it did not change for 30 s */
  observe(steppedAt: Micros | null): 'present' | 'absent' | 'unknown'
}

/** @param monotonic milliseconds */
export function watchOtherSequencers(monotonic: () => number = () => performance.now()): OtherSequencers {
  let first: { at: number; steppedAt: Micros | null } | undefined
  return {
    observe(steppedAt) {
      first ??= { at: monotonic(), steppedAt }
      // Compares no clocks: the database may be a restored copy with an old time.
      if (steppedAt !== first.steppedAt) return 'present'
      return monotonic() - first.at < OBSERVED_MS ? 'unknown' : 'absent'
    },
  }
}
