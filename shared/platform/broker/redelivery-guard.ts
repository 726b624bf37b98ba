import type { Delivery } from './consumer.ts'

/** Times that the handling of a redelivered message may begin without ending; then the message itself is taken to be the reason. */
export const MAX_STARTS = 3

/**
 * Whether a message may be what kills the process: it was handed out twice before and never acknowledged. What was
 * merely in flight beside the real one looks just the same; telling them apart is what `redelivery-store.ts` is for.
 */
export function wasRedelivered(delivery: Delivery): boolean {
  return delivery.redeliveries >= 2
}
