import { parseLiveChange } from '#shared/contracts/live-change.ts'
import { LIVE_EXCHANGE } from '#shared/contracts/topology.ts'
import type { Broker } from '#shared/platform/broker/broker.ts'
import { listenToFanout } from './fanout-listener.ts'

/** Hears what workers announce for open pages. What is lost is found by the pages' own slow look. */
export function createLiveChanges(broker: Broker) {
  const { onChange } = listenToFanout(broker, LIVE_EXCHANGE, parseLiveChange)
  return { onChange }
}
