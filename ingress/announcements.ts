import { z } from 'zod'
import { CACHE_EXCHANGE } from '#shared/contracts/topology.ts'
import type { Broker } from '#shared/platform/broker/broker.ts'
import { listenToFanout } from './fanout-listener.ts'

/** A change that every ingress process must forget its cached copy for. */
export type CacheChange = z.infer<typeof changeSchema>

const changeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('check'), uuid: z.uuid(), projectId: z.int() }),
  z.object({ kind: z.literal('project'), projectId: z.int() }),
])

/**
 * Carries changes to every ingress process. Lost announcements do no harm beyond a cached answer living on until it
 * expires; so nothing here is durable or confirmed.
 */
export function createAnnouncements(broker: Broker) {
  const { tell, onChange, onGap } = listenToFanout(broker, CACHE_EXCHANGE, parseChange)
  return {
    announce(change: CacheChange): void {
      // Our own caches need not wait for the broker.
      tell(change)
      broker.send({ exchange: CACHE_EXCHANGE, routingKey: '', body: Buffer.from(JSON.stringify(change)) })
    },
    onChange,
    onGap,
  }
}

function parseChange(content: Buffer): CacheChange | null {
  try {
    return changeSchema.safeParse(JSON.parse(content.toString('utf8'))).data ?? null
  } catch {
    return null
  }
}
