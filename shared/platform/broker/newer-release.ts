import { DELIVERY_LIMIT } from '../../contracts/topology.ts'
import type { Delivery } from './consumer.ts'

/** Delay before a process consumes again after it met a message of a newer release. */
export const REQUEUE_DELAY_MS = 60_000
const GIVE_UP_AFTER_SECONDS = 3_600
/** Below the delivery limit, at which the broker dead-letters it without a reason. */
const GIVE_UP_AFTER_DELIVERIES = DELIVERY_LIMIT - 10

/**
 * Leaves the message to processes of a newer release, which run in parallel during an update (docs/adr/0011). A
 * message without a timestamp is not ours, and waiting does not make an older one readable.
 */
export function isLeftToNewer({ message, redeliveries }: Delivery, known: number, nowSeconds: number): boolean {
  const { headers, timestamp } = message.properties
  const version: unknown = headers?.v
  if (typeof version !== 'number' || version <= known || typeof timestamp !== 'number') return false
  return nowSeconds - timestamp < GIVE_UP_AFTER_SECONDS && redeliveries < GIVE_UP_AFTER_DELIVERIES
}
