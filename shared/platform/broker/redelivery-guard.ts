import type { Delivery } from './consumer.ts'

/** Unfinished attempts of a redelivered message after which it is assumed to crash the process. */
export const MAX_STARTS = 3

/** True also for messages that were only in flight at the same time; `redelivery-store.ts` separates them. */
export function wasRedelivered(delivery: Delivery): boolean {
  return delivery.redeliveries >= 2
}
