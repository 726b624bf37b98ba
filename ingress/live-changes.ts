import { randomUUID } from 'node:crypto'
import { type LiveChange, parseLiveChange } from '#shared/contracts/live-change.ts'
import { LIVE_EXCHANGE } from '#shared/contracts/topology.ts'
import type { Broker } from '#shared/platform/broker.ts'

/** Hears what workers announce for open pages. What is lost is found by the pages' own slow look. */
export function createLiveChanges(broker: Broker) {
  const listeners = new Set<(change: LiveChange) => void>()
  const queue = `live.${randomUUID()}`
  broker.consume({
    queue,
    prefetch: 1000,
    noAck: true,
    async declare(channel) {
      await channel.assertQueue(queue, { exclusive: true, autoDelete: true, durable: false })
      await channel.bindQueue(queue, LIVE_EXCHANGE, '')
    },
    onDelivery({ message }) {
      const change = parseLiveChange(message.content)
      if (change) for (const listener of listeners) listener(change)
    },
  })
  return {
    onChange(listener: (change: LiveChange) => void): void {
      listeners.add(listener)
    },
  }
}
