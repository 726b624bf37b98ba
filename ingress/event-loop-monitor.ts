import type { Log } from '#shared/platform/process/log.ts'
import type { Metrics } from '#shared/platform/process/metrics.ts'

/** Minimum delay in milliseconds that is reported. */
const SLOW_MS = 100
const POLL_EVERY_MS = 20
/** Interval without requests in progress. Fifty timers a second are a sixth of the cost of an idle process. */
const IDLE_POLL_MS = 250
/** Maximum number of routes in a log entry. */
const MAX_NAMED = 5

/** Reports requests in progress while the event loop was blocked. Pings are not reported. */
export interface EventLoopMonitor extends Disposable {
  /** @returns function to call at the end of the response */
  enter(route: string): () => void
}

/**
 * Polls the event loop every 20 ms while requests are in progress. After a delay of more than 100 ms it counts and logs
 * the routes in progress, one of which may have blocked the loop.
 */
export function monitorEventLoop({
  log,
  metrics,
}: {
  log: Log
  metrics: Pick<Metrics, 'eventLoopBlocks'>
}): EventLoopMonitor {
  const underWay = new Map<string, number>()
  /** routes that ended since the last poll; one of them may have blocked the loop */
  let left: string[] = []
  let planned = 0
  let timer: NodeJS.Timeout | undefined
  let cpu = process.threadCpuUsage()
  const arm = (afterMs: number) => {
    planned = performance.now() + afterMs
    timer = setTimeout(measure, afterMs).unref()
  }
  function measure(): void {
    const lateMs = performance.now() - planned
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
    cpu = process.threadCpuUsage()
    arm(underWay.size > 0 ? POLL_EVERY_MS : IDLE_POLL_MS)
  }
  arm(IDLE_POLL_MS)

  function leave(route: string): void {
    const count = underWay.get(route) ?? 0
    if (count > 1) underWay.set(route, count - 1)
    else underWay.delete(route)
  }

  return {
    enter(route) {
      underWay.set(route, (underWay.get(route) ?? 0) + 1)
      // A timer that is late already has a delay to report.
      if (planned - performance.now() > POLL_EVERY_MS) {
        clearTimeout(timer)
        arm(POLL_EVERY_MS)
      }
      return () => left.push(route)
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}
