import { monitorEventLoopDelay } from 'node:perf_hooks'
import { type Request, type Response, Router } from 'express'
import type { Problems, Readiness } from '#shared/platform/process/open-platform.ts'
import type { IngressDeps } from './deps.ts'

/** A loop that was this late cannot serve well. */
const MAX_LOOP_DELAY_MS = 2_000
/** How long a lateness is remembered at least, and half of how long at most. */
const LOOP_WINDOW_MS = 10_000

/**
 * `/livez` says that the process runs, `/readyz` whether it can serve now, `/readyz/pings` whether it can take pings:
 * they need the broker, and no database. The port is public: the reasons why not hold inner addresses and are on the
 * metrics port.
 */
export function createHealthRouter({
  readiness,
  pingReadiness,
}: Pick<IngressDeps, 'readiness' | 'pingReadiness'>): Router {
  const router = Router({ caseSensitive: true, strict: true })
  router.get('/livez', (_request: Request, response: Response) => {
    response.type('text/plain').end('OK')
  })
  const say = ({ problems }: Readiness) => {
    return async (_request: Request, response: Response) => {
      const ready = (await problems()).length === 0
      response
        .status(ready ? 200 : 503)
        .set('Cache-Control', 'no-store')
        .json({ ready })
    }
  }
  router.get('/readyz', say(readiness))
  router.get('/readyz/pings', say(pingReadiness))
  return router
}

/** What keeps an HTTP listener from serving, beyond what every process needs: stopping, a late loop. */
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

/** How late the event loop was at its worst within the last one to two windows. Asking changes nothing. */
export function openLoopDelay(windowMs: number): { worstMs(): number } & Disposable {
  const delay = monitorEventLoopDelay({ resolution: 20 })
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
