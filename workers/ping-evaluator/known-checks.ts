import type { LockedCheck } from '#shared/monitoring/checks/lock-store.ts'
import { hasRules } from '#shared/monitoring/checks/rule-bits.ts'
import type { Writer } from '#shared/monitoring/pings/record-store.ts'

/** A check as this process stored it, and the transaction that did. */
export interface KnownCheck {
  check: LockedCheck
  xid: number
}

/** About 500 bytes each. */
const MAX_CHECKS = 20_000
/** After this many transactions a row could have an earlier number again: its column contains the lower half. */
const MAX_AGE = 2 ** 31
/** Maximum number of batches that use locks first after another process changed checks. */
const MAX_DETOURS = 64

/**
 * Caches the checks that this process stored, so that their next pings need no read (docs/adr/0002). The statement that
 * stores them verifies that the cached version is still current.
 */
export class KnownChecks {
  readonly #checks = new Map<number, KnownCheck>()
  #latest: Writer = { xid: 0, server: 0 }
  #nextDetours = 1
  #detours = 0

  /**
   * Returns all of these checks, or none. They are removed until `keep` adds them again, because the caller changes
   * them.
   * @returns in the order of the ids; null if one is unknown, or if other processes change checks often
   */
  take(ids: readonly number[]): KnownCheck[] | null {
    if (this.#detours > 0) {
      this.#detours -= 1
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

  /** Adds checks that a committed transaction stored. */
  keep(checks: readonly LockedCheck[], writer: Writer): void {
    if (writer.server !== this.#latest.server) this.#checks.clear()
    this.#latest = writer
    for (const check of checks) {
      // The last stored checks come last.
      this.#checks.delete(check.id)
      // Rule state is read with each ping, so checks with rules are not cached.
      if (!hasRules(check)) this.#checks.set(check.id, { check, xid: writer.xid })
    }
    for (const id of this.#checks.keys()) {
      if (this.#checks.size <= MAX_CHECKS) break
      this.#checks.delete(id)
    }
  }

  /** Returns true if a transaction belongs to the server start of the cached checks. */
  isOf(writer: Writer): boolean {
    return writer.server === this.#latest.server
  }

  /** Records that the cached checks were current: other processes do not change them often. */
  held(): void {
    this.#nextDetours = 1
  }

  /** Records that a cached check was outdated. If that repeats, reading first is cheaper than applying twice. */
  outdated(): void {
    this.#detours = this.#nextDetours
    this.#nextDetours = Math.min(MAX_DETOURS, this.#nextDetours * 2)
  }

  /** Drops all checks. */
  forget(): void {
    this.#checks.clear()
  }
}
