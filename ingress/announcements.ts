import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { CACHE_EXCHANGE } from '#shared/contracts/topology.ts'
import type { Broker } from '#shared/platform/broker.ts'
import type { CacheChange } from './deps.ts'

const changeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('check'), uuid: z.uuid(), projectId: z.int() }),
  z.object({ kind: z.literal('project'), projectId: z.int() }),
])

/**
 * Carries changes to every ingress process. Lost announcements do no harm beyond a cached answer living on for its
 * thirty seconds; so nothing here is durable or confirmed.
 */
export function createAnnouncements(broker: Broker) {
  const listeners = new Set<(change: CacheChange) => void>()
  const queue = `cache.${randomUUID()}`
  broker.consume({
    queue,
    prefetch: 1000,
    noAck: true,
    async declare(channel) {
      await channel.assertQueue(queue, { exclusive: true, autoDelete: true, durable: false })
      await channel.bindQueue(queue, CACHE_EXCHANGE, '')
    },
    onDelivery({ message }) {
      const change = parseChange(message.content)
      if (change) for (const listener of listeners) listener(change)
    },
  })
  return {
    announce(change: CacheChange): void {
      // Our own caches need not wait for the broker.
      for (const listener of listeners) listener(change)
      broker.send({ exchange: CACHE_EXCHANGE, routingKey: '', body: Buffer.from(JSON.stringify(change)) })
    },
    onChange(listener: (change: CacheChange) => void): void {
      listeners.add(listener)
    },
  }
}

function parseChange(content: Buffer): CacheChange | null {
  try {
    return changeSchema.safeParse(JSON.parse(content.toString('utf8'))).data ?? null
  } catch {
    return null
  }
}
