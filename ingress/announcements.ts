import { randomUUID } from 'node:crypto'
import { type CacheChange, parseCacheChange, parseLiveChange } from '#shared/contracts/ingress-messages.ts'
import { CACHE_EXCHANGE, LIVE_EXCHANGE } from '#shared/contracts/topology.ts'
import type { Broker } from '#shared/platform/broker/broker.ts'

/**
 * Carries changes to every ingress process. Lost announcements do no harm beyond a cached answer living on until it
 * expires; so nothing here is durable or confirmed.
 */
export function createAnnouncements(broker: Broker) {
  const { notify, onChange, onGap } = listenToFanout(broker, CACHE_EXCHANGE, parseCacheChange)
  return {
    announce(change: CacheChange): void {
      // Our own caches need not wait for the broker.
      notify(change)
      broker.send({ exchange: CACHE_EXCHANGE, routingKey: '', body: Buffer.from(JSON.stringify(change)) })
    },
    onChange,
    onGap,
  }
}

/** Hears what workers announce for open pages. What is lost is found by the pages' own slow look. */
export function createLiveChanges(broker: Broker) {
  const { onChange } = listenToFanout(broker, LIVE_EXCHANGE, parseLiveChange)
  return { onChange }
}

/**
 * Hears everything on a fanout exchange from now on, on a queue of this process that goes with its connection. What was
 * sent while it was away is lost: only for announcements that merely hasten something.
 * @param parse null for what is not understood; it is passed over
 */
function listenToFanout<T>(broker: Broker, exchange: string, parse: (content: Buffer) => T | null) {
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
    /** notifies the listeners of this process, without the broker */
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
