import { randomUUID } from 'node:crypto'
import type { Broker } from '#shared/platform/broker/broker.ts'

/** Hears from the composers when packs that callers wait for are finished. A reply may be lost: it only hurries. */
export interface PackReplies {
  /** queue that the composer answers to */
  readonly replyTo: string
  /** @returns resolves at the reply or after the time, whichever is first; `cancel` forgets it */
  wait(packId: string, timeoutMs: number): Promise<void>
}

export function createPackReplies(broker: Broker): PackReplies {
  const replyTo = `pack-replies.${randomUUID()}`
  const waiting = new Map<string, Set<() => void>>()
  broker.consume({
    queue: replyTo,
    prefetch: 1000,
    noAck: true,
    declare: (channel) => channel.assertQueue(replyTo, { exclusive: true, autoDelete: true, durable: false }),
    onDelivery({ message }) {
      const packId = String(message.properties.correlationId)
      for (const wake of waiting.get(packId) ?? []) wake()
    },
  })
  return {
    replyTo,
    wait(packId, timeoutMs) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const wakers = waiting.get(packId) ?? new Set()
      waiting.set(packId, wakers)
      const wake = () => {
        clearTimeout(timer)
        wakers.delete(wake)
        if (wakers.size === 0) waiting.delete(packId)
        resolve()
      }
      const timer = setTimeout(wake, timeoutMs)
      wakers.add(wake)
      return promise
    },
  }
}
