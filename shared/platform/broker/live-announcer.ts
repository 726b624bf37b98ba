import { type LiveChange, MAX_LISTED } from '../../contracts/ingress-messages.ts'
import { LIVE_EXCHANGE } from '../../contracts/topology.ts'
import type { Broker } from './broker.ts'

const GATHER_MS = 250

export interface LiveAnnouncer {
  /** Announces committed changes to open pages. Announcements may be lost, which only delays the pages. */
  changed(checkIds: readonly number[], integrationIds?: readonly number[]): void
}

/** Sends at most four small messages per second. */
export function createLiveAnnouncer(broker: Pick<Broker, 'send'>): LiveAnnouncer & Disposable {
  const checks = new Set<number>()
  const integrations = new Set<number>()
  let timer: NodeJS.Timeout | null = null

  function flush(): void {
    timer = null
    if (checks.size + integrations.size === 0) return
    const change: LiveChange =
      checks.size + integrations.size > MAX_LISTED
        ? { all: true }
        : { checks: [...checks], integrations: [...integrations] }
    checks.clear()
    integrations.clear()
    broker.send({ exchange: LIVE_EXCHANGE, routingKey: '', body: Buffer.from(JSON.stringify(change)) })
    timer = setTimeout(flush, GATHER_MS)
    timer.unref()
  }

  return {
    changed(checkIds, integrationIds = []) {
      add(checks, checkIds)
      add(integrations, integrationIds)
      if (timer === null) flush()
    },
    [Symbol.dispose]() {
      if (timer !== null) clearTimeout(timer)
      flush()
      if (timer !== null) clearTimeout(timer)
    },
  }
}

function add(to: Set<number>, ids: readonly number[]): void {
  for (const id of ids) {
    if (to.size > MAX_LISTED) return
    to.add(id)
  }
}
