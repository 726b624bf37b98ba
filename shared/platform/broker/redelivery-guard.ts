import type { Delivery } from './consumer.ts'

/** Unfinished attempts of a redelivered message after which it is assumed to crash the process. */
export const MAX_STARTS = 3

/**
 * Returns true if the message may crash the process: it was delivered twice before and never acknowledged. Messages
 * that were only in flight at the same time match too; `redelivery-store.ts` separates them.
 */
export function wasRedelivered(delivery: Delivery): boolean {
  return delivery.redeliveries >= 2
}
