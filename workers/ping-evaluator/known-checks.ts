import type { LockedCheck } from '#shared/monitoring/checks/lock-store.ts'
import { hasRules } from '#shared/monitoring/checks/rule-bits.ts'
import type { Writer } from '#shared/monitoring/pings/record-store.ts'

export interface KnownCheck {
  check: LockedCheck
  xid: number
}

/** About 500 bytes each. */
const MAX_CHECKS = 20_000
/** After this many transactions a row could have an earlier number again: its column contains the lower half. */
const MAX_AGE = 2 ** 31
/** After another process changed checks, so many batches use locks first. */
const MAX_DETOURS = 64

/** Pings of cached checks need no read; the statement that stores them verifies the version (docs/adr/0002). */
export class KnownChecks {
  readonly #checks = new Map<number, KnownCheck>()
  #latest: Writer = { xid: 0, server: 0 }
  #nextDetours = 1
  #detours = 0

  /** All or none. `keep` must add them again, because the caller changes them. Null if one is unknown. */
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

  /** The server start must be that of the cached checks. */
  isOf(writer: Writer): boolean {
    return writer.server === this.#latest.server
  }

  /** Other processes do not change cached checks often. */
  held(): void {
    this.#nextDetours = 1
  }

  /** If outdated checks repeat, reading first is cheaper than applying twice. */
  outdated(): void {
    this.#detours = this.#nextDetours
    this.#nextDetours = Math.min(MAX_DETOURS, this.#nextDetours * 2)
  }

  forget(): void {
    this.#checks.clear()
  }
}
