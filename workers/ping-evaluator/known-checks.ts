import type { LockedCheck } from '#shared/monitoring/checks/lock-store.ts'
import { hasRules } from '#shared/monitoring/checks/rule-bits.ts'
import type { Writer } from '#shared/monitoring/pings/record-store.ts'

export interface KnownCheck {
  check: LockedCheck
  xid: number
}

/** About 500 bytes each. */
const MAX_CHECKS = 20_000
/** Rows store only the lower half of the transaction number, so after this many transactions a number may repeat. */
const MAX_AGE = 2 ** 31
/** Maximum number of batches that are applied with locks after another process has changed checks. */
const MAX_LOCKED_BATCHES = 64

/** Caches checks, so that their pings need no read. The statement that stores them verifies the version (docs/adr/0002). */
export class KnownChecks {
  readonly #checks = new Map<number, KnownCheck>()
  #latest: Writer = { xid: 0, server: 0 }
  #nextLockedBatches = 1
  #lockedBatches = 0

  /** Removes and returns checks, because the caller changes them; `keep` adds them again. Null if one is unknown. */
  take(ids: readonly number[]): KnownCheck[] | null {
    if (this.#lockedBatches > 0) {
      this.#lockedBatches -= 1
      return null
    }
    const taken: KnownCheck[] = []
    for (const id of ids) {
      const known = this.#checks.get(id)
      if (!known || this.#latest.xid - known.xid >= MAX_AGE) return null
      taken.push(known)
    }
    for (const id of ids) this.#checks.delete(id)
    return taken
  }

  keep(checks: readonly LockedCheck[], writer: Writer): void {
    if (writer.server !== this.#latest.server) this.#checks.clear()
    this.#latest = writer
    for (const check of checks) {
      // Moves the check to the end, because the first ones are evicted.
      this.#checks.delete(check.id)
      // Rule state is read with each ping, so checks with rules are not cached.
      if (!hasRules(check)) this.#checks.set(check.id, { check, xid: writer.xid })
    }
    for (const id of this.#checks.keys()) {
      if (this.#checks.size <= MAX_CHECKS) break
      this.#checks.delete(id)
    }
  }

  /** Returns true if the server has not restarted since the checks were cached. */
  isOf(writer: Writer): boolean {
    return writer.server === this.#latest.server
  }

  /** Reports that no other process had changed the checks. */
  current(): void {
    this.#nextLockedBatches = 1
  }

  /** Reports that another process had changed a check. If this repeats, reading first costs less than repeating. */
  outdated(): void {
    this.#lockedBatches = this.#nextLockedBatches
    this.#nextLockedBatches = Math.min(MAX_LOCKED_BATCHES, this.#nextLockedBatches * 2)
  }

  forget(): void {
    this.#checks.clear()
  }
}
