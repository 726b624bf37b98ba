import { randomUUID } from 'node:crypto'
import type { Broker } from '#shared/platform/broker/broker.ts'

/** Hears from workers what requests wait for: that a pack is composed, or a job done. A reply may be lost. */
export interface Replies {
  /** the queue of this process that workers reply to */
  readonly replyTo: string
  /** @returns what the reply about this id says; null after the time */
  wait(id: string, timeoutMs: number): Promise<Buffer | null>
}

export function createReplies(broker: Broker): Replies {
  const replyTo = `replies.${randomUUID()}`
  const waiting = new Map<string, Set<(reply: Buffer) => void>>()
  broker.consume({
    queue: replyTo,
    prefetch: 1000,
    noAck: true,
    declare: (channel) => channel.assertQueue(replyTo, { exclusive: true, autoDelete: true, durable: false }),
    onDelivery({ message }) {
      const id = String(message.properties.correlationId)
      for (const wake of waiting.get(id) ?? []) wake(message.content)
    },
  })
  return {
    replyTo,
    wait(id, timeoutMs) {
      const { promise, resolve } = Promise.withResolvers<Buffer | null>()
      const wakers = waiting.get(id) ?? new Set()
      waiting.set(id, wakers)
      const wake = (reply: Buffer | null) => {
        clearTimeout(timer)
        wakers.delete(wake)
        if (wakers.size === 0) waiting.delete(id)
        resolve(reply)
      }
      const timer = setTimeout(wake, timeoutMs, null)
      wakers.add(wake)
      return promise
    },
  }
}
