import { monitorEventLoopDelay } from 'node:perf_hooks'
import { type Request, type Response, Router } from 'express'
import type { Problems, Readiness } from '#shared/platform/process/open-platform.ts'
import { ARRIVED_PATH, arrivedWithBase } from './base-path.ts'
import type { IngressDeps } from './deps.ts'

/** A process with a longer delay is not ready. */
const MAX_LOOP_DELAY_MS = 2_000
/** Fine enough for seconds. A finer one wakes an idle process more often. */
const LOOP_RESOLUTION_MS = 100
/** Minimum time for which a delay is reported, and half of the maximum. */
const LOOP_WINDOW_MS = 10_000

/**
 * Serves `/livez` (the process runs), `/readyz` (it can serve) and `/readyz/pings` (it can accept pings, which need
 * only the broker). The port is public, so reasons with internal addresses are on the metrics port only. A header of
 * `/livez` shows the path that arrived, because a proxy may remove the path of PUBLIC_URL.
 */
export function createHealthRouter({
  config,
  readiness,
  pingReadiness,
}: Pick<IngressDeps, 'config' | 'readiness' | 'pingReadiness'>): Router {
  const router = Router({ caseSensitive: true, strict: true })
  router.get('/livez', (request: Request, response: Response) => {
    const arrived = `${arrivedWithBase(request) ? config.basePath : ''}/livez`
    response.type('text/plain').set(ARRIVED_PATH, arrived).end('OK')
  })
  const report = ({ problems }: Readiness) => {
    return async (_request: Request, response: Response) => {
      const ready = (await problems()).length === 0
      response
        .status(ready ? 200 : 503)
        .set('Cache-Control', 'no-store')
        .json({ ready })
    }
  }
  router.get('/readyz', report(readiness))
  router.get('/readyz/pings', report(pingReadiness))
  return router
}

/** Reports shutdown and a late event loop, in addition to the problems of every process. */
export function openListenerProblems(
  deps: Pick<IngressDeps, 'draining'>,
  loopWindowMs = LOOP_WINDOW_MS,
): { problems: Problems } & Disposable {
  const loop = openLoopDelay(loopWindowMs)

  function loopProblems(): string[] {
    const worstMs = loop.worstMs()
    return worstMs > MAX_LOOP_DELAY_MS ? [`event loop: was ${Math.round(worstMs)} ms late`] : []
  }

  return {
    problems() {
      const stopping = deps.draining.aborted ? ['process: is stopping'] : []
      return [...stopping, ...loopProblems()]
    },
    [Symbol.dispose]: () => loop[Symbol.dispose](),
  }
}

/** Measures the worst delay of the last one to two windows. Reading does not reset it. */
export function openLoopDelay(windowMs: number): { worstMs(): number } & Disposable {
  const delay = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS })
  delay.enable()
  let before = 0
  const timer = setInterval(() => {
    before = delay.max
    delay.reset()
  }, windowMs).unref()
  return {
    worstMs: () => Math.max(before, delay.max) / 1e6,
    [Symbol.dispose]() {
      clearInterval(timer)
      delay.disable()
    },
  }
}
