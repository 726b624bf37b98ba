import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import { findCheck } from '#shared/monitoring/checks/store.ts'
import { finishDurations, planDurations } from '#shared/monitoring/pings/durations.ts'
import { listKeptFailures, tableOf } from '#shared/monitoring/pings/kept-failure-store.ts'
import { findBodyLength, listPings, lookBack, readBody, toPingView } from '#shared/monitoring/pings/store.ts'
import { queryOf } from '../middleware/form-text.ts'
import type { Route } from '../route.ts'
import { sendStream } from '../text-pieces.ts'
import { read, readWriteKey } from './monitoring-route.ts'
import { type ApiVersion, requireCheckId } from './operation.ts'
import { pingSchema, uuidParam } from './schemas.ts'

/** Maximum number of listed pings (docs/spec/monitoring.md#pings-list). */
const MAX_LISTED = 1000

/** Recorded pings and their bodies, for one version of the API. */
export function pingRoutes(version: ApiVersion): Route[] {
  const common = {
    tags: ['Pings'],
    access: readWriteKey,
  } as const
  const errors = [403, 404]
  return [
    read({
      ...common,
      path: `/api/v${version}/checks/{uuid}/pings/`,
      operationId: 'listPings',
      summary: 'List the newest pings of a check, newest first',
      params: { uuid: uuidParam },
      query: z.object({
        failures: z
          .literal('1')
          .optional()
          .describe('The newest failures, also those that the log has dropped (KEPT_FAILURES).'),
      }),
      errors,
      responses: {
        200: {
          description: 'At most 1,000 pings.',
          content: { 'application/json': z.object({ pings: z.array(pingSchema) }) },
        },
      },
      async handle({ key, params: { uuid }, request, deps, setLag }) {
        const id = await requireCheckId(uuid, key, deps)
        setLag(await deps.barrier.pass([id]))
        const check = await findCheck(deps.db, uuid)
        if (!check) throw new NotFoundError('')
        const kept = deps.config.pingLogLimit
        const pings =
          queryOf(request).get('failures') === '1'
            ? await listKeptFailures(deps.db, id, deps.config.keptFailures)
            : await listPings(deps.db, id, check.nPings - kept, Math.min(kept, MAX_LISTED))
        const plan = planDurations(pings)
        const durations = finishDurations(plan, await lookBack(deps.db, id, plan.lookBacks))
        const options = { base: deps.config.publicUrl, version, checkUuid: uuid, durations }
        return { pings: pings.map((ping) => toPingView(ping, options)) }
      },
    }),
    read({
      ...common,
      path: `/api/v${version}/checks/{uuid}/pings/{n}/body`,
      operationId: 'getPingBody',
      summary: 'Get the body of a ping, byte for byte',
      params: {
        uuid: uuidParam,
        n: { pattern: '[0-9]+', description: "The ping's number.", example: '17' },
      },
      errors,
      responses: { 200: { description: 'The stored bytes.', content: { 'text/plain': null } } },
      async handle({ key, params, deps, setLag }) {
        const id = await requireCheckId(params.uuid, key, deps)
        setLag(await deps.barrier.pass([id]))
        const check = await findCheck(deps.db, params.uuid)
        const n = Number(params.n)
        const table = check && (await tableOf(deps, check, n))
        const length = table ? await findBodyLength(deps.db, table, id, n) : 0
        if (!table || length === 0) throw new NotFoundError('')
        return async (response) => {
          // The client that pinged chose the bytes: browsers must not render them as a page.
          response.setHeader('Content-Type', 'text/plain')
          await sendStream(response, readBody(deps.db, { table, checkId: id, n, length }), length)
        }
      },
    }),
  ]
}
