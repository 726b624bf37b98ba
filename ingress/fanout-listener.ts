import { randomUUID } from 'node:crypto'
import type { Broker } from '#shared/platform/broker/broker.ts'

/**
 * Hears everything on a fanout exchange from now on, on a queue of this process that goes with its connection. What was
 * sent while it was away is lost: only for announcements that merely hasten something.
 * @param parse null for what is not understood; it is passed over
 */
export function listenToFanout<T>(broker: Broker, exchange: string, parse: (content: Buffer) => T | null) {
  const listeners = new Set<(announced: T) => void>()
  const notify = (announced: T) => {
    for (const listener of listeners) listener(announced)
  }
  const gapListeners = new Set<() => void>()
  const queue = `${exchange}.${randomUUID()}`
  broker.consume({
    queue,
    prefetch: 1000,
    noAck: true,
    async declare(channel) {
      await channel.assertQueue(queue, { exclusive: true, autoDelete: true, durable: false })
      await channel.bindQueue(queue, exchange, '')
      for (const listener of gapListeners) listener()
    },
    onDelivery({ message }) {
      const announced = parse(message.content)
      if (announced !== null) notify(announced)
    },
  })
  return {
    /** tells the listeners of this process, without the broker */
    notify,
    onChange(listener: (announced: T) => void): void {
      listeners.add(listener)
    },
    /** calls whenever it hears again after a while in which it may have missed something */
    onGap(listener: () => void): void {
      gapListeners.add(listener)
    },
  }
}
