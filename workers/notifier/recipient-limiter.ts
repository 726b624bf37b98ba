import { LRUCache } from 'lru-cache'
import type { FailedOutcome } from '#shared/delivery/outcome.ts'
import { checkRecipientLimit } from '#shared/monitoring/notifications/limits.ts'

const MINUTE_MS = 60_000

/**
 * Counts what this process sent to a recipient within the last minute, and counts the asked-for message in when it may
 * be sent. @returns null when it may
 */
export function createRecipientLimiter(): (kind: string, recipient: string, nowMs: number) => FailedOutcome | null {
  const sent = new LRUCache<string, number[]>({ max: 10_000 })
  return (kind, recipient, nowMs) => {
    const key = `${kind}\n${recipient}`
    const recent = (sent.get(key) ?? []).filter((at) => at > nowMs - MINUTE_MS)
    const refusal = checkRecipientLimit(kind, recent.length)
    sent.set(key, refusal ? recent : [...recent, nowMs])
    return refusal
  }
}
