import { monitorEventLoopDelay } from 'node:perf_hooks'
import { type Request, type Response, Router } from 'express'
import { pendingMigrations } from '#shared/platform/migrate.ts'
import type { IngressDeps } from './deps.ts'

/** A loop that was this late at its worst since the last question cannot serve well. */
const MAX_LOOP_DELAY_MS = 2_000

/** `/livez` says that the process runs, `/readyz` whether it can serve now, with the reasons why not. */
export function createHealthRouter(deps: IngressDeps): Router {
  const router = Router({ caseSensitive: true, strict: true })
  const loopDelay = monitorEventLoopDelay({ resolution: 20 })
  loopDelay.enable()
  let schemaIsCurrent = false

  router.get('/livez', (_request: Request, response: Response) => {
    response.type('text/plain').end('OK')
  })

  router.get('/readyz', async (_request: Request, response: Response) => {
    const stopping = deps.draining.aborted ? ['process: is stopping'] : []
    const reasons = [...stopping, ...(await databaseReasons()), ...deps.broker.problems(), ...loopReasons()]
    response
      .status(reasons.length === 0 ? 200 : 503)
      .set('Cache-Control', 'no-store')
      .json({ ready: reasons.length === 0, reasons })
  })

  async function databaseReasons(): Promise<string[]> {
    try {
      await deps.healthDb.raw('SELECT 1')
      // A schema never becomes older while we run, so the question is asked until it is answered well once.
      const pending = schemaIsCurrent ? [] : await pendingMigrations(deps.healthDb)
      schemaIsCurrent = pending.length === 0
      return schemaIsCurrent ? [] : [`database: ${pending.length} migrations are pending`]
    } catch {
      return ['database: cannot be reached']
    }
  }

  function loopReasons(): string[] {
    const worstMs = loopDelay.max / 1e6
    loopDelay.reset()
    return worstMs > MAX_LOOP_DELAY_MS ? [`event loop: was ${Math.round(worstMs)} ms late`] : []
  }

  return router
}
