import { BARRIER_TYPE } from '#shared/contracts/ingress-messages.ts'
import { decodePingBatch, MalformedBatchError, type PingBatch } from '#shared/contracts/ping-batch.ts'
import type { Delivery } from '#shared/platform/broker/consumer.ts'
import { wasRedelivered } from '#shared/platform/broker/redelivery-guard.ts'

/** Larger transactions gain nothing and hold locks longer. */
export const MAX_PINGS = 2_000

/** Received and not settled yet. */
export interface Arrival {
  shard: number
  delivery: Delivery
  /** monotonic milliseconds */
  at: number
}

export interface Taken extends Omit<Arrival, 'at'> {
  batch: PingBatch
}

export function isBarrier({ message }: Delivery): boolean {
  return message.properties.type === BARRIER_TYPE
}

/** True for a barrier with a waiting reader, and for a redelivered message, which is handled alone. */
export function isUrgent(delivery: Delivery): boolean {
  const isAwaited = isBarrier(delivery) && delivery.message.properties.replyTo !== undefined
  return isAwaited || wasRedelivered(delivery)
}

/** In order; each group is one transaction. A message above the limit forms a group alone. */
export function* groupsOf(taken: readonly Taken[], maxPings: () => number): Generator<readonly Taken[], void> {
  let group: Taken[] = []
  let size = 0
  for (const one of taken) {
    if (group.length > 0 && size + one.batch.pings.length > maxPings()) {
      yield group
      group = []
      size = 0
    }
    group.push(one)
    size += one.batch.pings.length
  }
  if (group.length > 0) yield group
}

/** Returns the error if it is not a batch. */
export function decode({ message }: Delivery): PingBatch | MalformedBatchError {
  try {
    return decodePingBatch(message.content)
  } catch (error) {
    if (error instanceof MalformedBatchError) return error
    throw error
  }
}
