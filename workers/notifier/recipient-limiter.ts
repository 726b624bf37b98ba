import { LRUCache } from 'lru-cache'
import type { FailedOutcome } from '#shared/delivery/outcome.ts'
import { checkRecipientLimit } from '#shared/monitoring/notifications/limits.ts'

const MINUTE_MS = 60_000

/** Counts notifications of this process within the last minute. */
export class RecipientLimiter {
  readonly #sent = new LRUCache<string, number[]>({ max: 10_000 })

  /** Returns the failure instead of counting beyond the recipient's limit. */
  count(kind: string, recipient: string, nowMs: number): FailedOutcome | null {
    const key = `${kind}\n${recipient}`
    const recent = (this.#sent.get(key) ?? []).filter((at) => at > nowMs - MINUTE_MS)
    const refusal = checkRecipientLimit(kind, recent.length)
    this.#sent.set(key, refusal ? recent : [...recent, nowMs])
    return refusal
  }
}
