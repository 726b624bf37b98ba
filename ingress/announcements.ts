import { randomUUID } from 'node:crypto'
import { type CacheChange, parseCacheChange, parseLiveChange } from '#shared/contracts/ingress-messages.ts'
import { CACHE_EXCHANGE, LIVE_EXCHANGE } from '#shared/contracts/topology.ts'
import type { Broker } from '#shared/platform/broker/broker.ts'

/**
 * Publishes changes to every ingress process. Messages are neither durable nor confirmed: a lost one only leaves a
 * cached answer until it expires.
 */
export function createAnnouncements(broker: Broker) {
  const { notify, onChange, onMissedMessages } = listenToFanout(broker, CACHE_EXCHANGE, parseCacheChange)
  return {
    announce(change: CacheChange): void {
      // The caches of this process need not wait for the broker.
      notify(change)
      broker.send({ exchange: CACHE_EXCHANGE, routingKey: '', body: Buffer.from(JSON.stringify(change)) })
    },
    onChange,
    onMissedMessages,
  }
}

/** Receives changes from workers for open pages. The pages poll as well, in case a message is lost. */
export function createLiveChanges(broker: Broker) {
  const { onChange } = listenToFanout(broker, LIVE_EXCHANGE, parseLiveChange)
  return { onChange }
}

/**
 * Receives all messages of a fanout exchange on a queue that ends with its connection. Messages during a disconnect are
 * lost.
 * @param parse returns null for an unknown message, which is ignored
 */
function listenToFanout<T>(broker: Broker, exchange: string, parse: (content: Buffer) => T | null) {
  const listeners = new Set<(announced: T) => void>()
  const notify = (announced: T) => {
    for (const listener of listeners) listener(announced)
  }
  const missedListeners = new Set<() => void>()
  const queue = `${exchange}.${randomUUID()}`
  broker.consume({
    queue,
    prefetch: 1000,
    noAck: true,
    async declare(channel) {
      await channel.assertQueue(queue, { exclusive: true, autoDelete: true, durable: false })
      await channel.bindQueue(queue, exchange, '')
      for (const listener of missedListeners) listener()
    },
    onDelivery({ message }) {
      const announced = parse(message.content)
      if (announced !== null) notify(announced)
    },
  })
  return {
    notify,
    onChange(listener: (announced: T) => void): void {
      listeners.add(listener)
    },
    /** calls the listener after each connect, because messages before it are lost */
    onMissedMessages(listener: () => void): void {
      missedListeners.add(listener)
    },
  }
}
