import { type CacheChange, parseCacheChange } from '#shared/contracts/cache-change.ts'
import { CACHE_EXCHANGE } from '#shared/contracts/topology.ts'
import type { Broker } from '#shared/platform/broker/broker.ts'
import { listenToFanout } from './fanout-listener.ts'

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
