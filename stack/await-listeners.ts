import { setTimeout as sleep } from 'node:timers/promises'
import { areListenersProven } from '#shared/monitoring/availability/gap-list-store.ts'
import { openDatabase } from '#shared/platform/database/db.ts'

const TIMEOUT_MS = 30_000
const QUERY_TIMEOUT_MS = 10_000

/**
 * Waits until both listeners are proven to accept pings. Until then pages report the time since the last stop as a
 * coverage gap. Returns after 30 s in any case, with a line for the operator.
 */
export async function awaitListeners(url: string, say: (line: string) => void): Promise<void> {
  const db = openDatabase({ url, name: 'signalbox-stack', poolSize: 1, timeoutMs: QUERY_TIMEOUT_MS })
  try {
    const deadline = performance.now() + TIMEOUT_MS
    while (!(await areListenersProven(db))) {
      if (performance.now() > deadline) {
        say('pings are not proven to be accepted yet: npm run -s admin -- doctor reports when they are')
        return
      }
      await sleep(200)
    }
  } finally {
    await db.destroy()
  }
}
