import type { Log } from '#shared/platform/process/log.ts'
import type { Metrics } from '#shared/platform/process/metrics.ts'

/** An iteration of the event loop that users notice, in milliseconds. */
const SLOW_MS = 100
const POLL_EVERY_MS = 20
/** Routes that a log line names. */
const MAX_NAMED = 5

/** Reports which requests were in progress while the event loop was blocked. Pings are not reported. */
export interface EventLoopMonitor extends Disposable {
  /** @returns to be called once the answer is finished or given up */
  enter(route: string): () => void
}

/**
 * Looks fifty times a second how late it is. After a turn of the event loop of more than 100 ms it counts and logs the
 * turn with the routes of the requests that were under way in it: one of them held the loop, or none of them.
 */
export function monitorEventLoop({
  log,
  metrics,
}: {
  log: Log
  metrics: Pick<Metrics, 'eventLoopBlocks'>
}): EventLoopMonitor {
  const underWay = new Map<string, number>()
  /** left since the last look: what held the loop may be finished by the time of the next */
  let left: string[] = []
  let looked = performance.now()
  let cpu = process.threadCpuUsage()
  const timer = setInterval(() => {
    const now = performance.now()
    const lateMs = now - looked - POLL_EVERY_MS
    if (lateMs > SLOW_MS) {
      const used = process.threadCpuUsage(cpu)
      const routes = [...underWay.keys()].slice(0, MAX_NAMED)
      metrics.eventLoopBlocks
        .labels(routes.length === 1 ? (routes[0] ?? '') : `${routes.length} routes`)
        .observe(lateMs / 1000)
      log.warn(
        { ms: Math.round(lateMs), cpuMs: Math.round((used.user + used.system) / 1000), routes },
        'event-loop.blocked',
      )
    }
    for (const route of left) leave(route)
    left = []
    looked = now
    cpu = process.threadCpuUsage()
  }, POLL_EVERY_MS)
  timer.unref()

  function leave(route: string): void {
    const count = underWay.get(route) ?? 0
    if (count > 1) underWay.set(route, count - 1)
    else underWay.delete(route)
  }

  return {
    enter(route) {
      underWay.set(route, (underWay.get(route) ?? 0) + 1)
      return () => left.push(route)
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}
