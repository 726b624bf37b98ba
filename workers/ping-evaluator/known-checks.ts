import type { LockedCheck } from '#shared/monitoring/checks/lock-store.ts'
import { hasRules } from '#shared/monitoring/checks/rule-bits.ts'
import type { Writer } from '#shared/monitoring/pings/record-store.ts'

/** A check as this process has stored it, and the transaction that did. */
export interface KnownCheck {
  check: LockedCheck
  xid: number
}

/** About 500 bytes each. */
const MAX_CHECKS = 20_000
/** Transactions after which a row could bear an old number once more: its column holds the lower half. */
const MAX_AGE = 2 ** 31
/** So often at most the locks are taken first after others were found to have changed checks. */
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
   * Hands out all of these checks, or none. They are forgotten until they are kept again: whoever has them changes them.
   * @returns in the order of the ids; null when one is not known, or when others change checks all the time
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

  /** Remembers checks as a transaction has stored them that has committed. */
  keep(checks: readonly LockedCheck[], writer: Writer): void {
    if (writer.server !== this.#latest.server) this.#checks.clear()
    this.#latest = writer
    for (const check of checks) {
      // Those stored last come last.
      this.#checks.delete(check.id)
      // What else decides about ruled ones is read with each of their pings.
      if (!hasRules(check)) this.#checks.set(check.id, { check, xid: writer.xid })
    }
    for (const id of this.#checks.keys()) {
      if (this.#checks.size <= MAX_CHECKS) break
      this.#checks.delete(id)
    }
  }

  /** Whether a transaction is one of the server that the numbers are of. */
  isOf(writer: Writer): boolean {
    return writer.server === this.#latest.server
  }

  /** What was taken held: others do not change these checks all the time. */
  held(): void {
    this.#nextDetours = 1
  }

  /** What was taken did not hold. Where that happens again and again, reading first is cheaper than doing it twice. */
  outdated(): void {
    this.#detours = this.#nextDetours
    this.#nextDetours = Math.min(MAX_DETOURS, this.#nextDetours * 2)
  }

  /** Nothing of it is to be relied on any more. */
  forget(): void {
    this.#checks.clear()
  }
}
