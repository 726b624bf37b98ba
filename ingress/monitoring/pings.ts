import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import { findCheck } from '#shared/monitoring/checks/store.ts'
import { finishDurations, planDurations } from '#shared/monitoring/pings/durations.ts'
import { findBodyLength, listPings, lookBack, readBody } from '#shared/monitoring/pings/store.ts'
import { toPingView } from '#shared/monitoring/pings/view.ts'
import { defineRoute, type Route } from '../route.ts'
import { sendStream } from '../text-pieces.ts'
import { type ApiVersion, admitWriter, ownCheckId, readAfterPings, sendJson } from './operation.ts'
import { answers, pingSchema, uuidParam } from './schemas.ts'

/** However many are kept, no more are listed (monitoring behaviour 5.8). */
const MAX_LISTED = 1000

/** Recorded pings and their bodies, for one version of the API. */
export function pingRoutes(version: ApiVersion): Route[] {
  const common = {
    method: 'get',
    tags: ['Pings'],
    security: ['projectKey'],
  } as const
  const failures = {
    401: answers.unauthorized,
    403: answers.forbidden,
    404: answers.notFound,
    429: answers.tooMany,
    503: answers.unavailable,
  }
  return [
    defineRoute({
      ...common,
      path: `/api/v${version}/checks/{uuid}/pings/`,
      operationId: 'listPings',
      summary: 'List the newest pings of a check, newest first',
      params: { uuid: uuidParam },
      responses: {
        200: {
          description: 'At most 1,000 pings.',
          content: { 'application/json': z.object({ pings: z.array(pingSchema) }) },
        },
        ...failures,
      },
      async handle(request, response, deps) {
        const { uuid } = request.params
        const key = await admitWriter(request, response, deps)
        const id = await ownCheckId(uuid, key, deps)
        await readAfterPings([id], response, deps)
        const check = await findCheck(deps.db, uuid)
        if (!check) throw new NotFoundError('')
        const kept = deps.config.pingLogLimit
        const pings = await listPings(deps.db, id, check.nPings - kept, Math.min(kept, MAX_LISTED))
        const plan = planDurations(pings)
        const durations = finishDurations(plan, await lookBack(deps.db, id, plan.lookBacks))
        const options = { base: deps.config.publicUrl, version, checkUuid: uuid, durations }
        sendJson(response, { pings: pings.map((ping) => toPingView(ping, options)) })
      },
    }),
    defineRoute({
      ...common,
      path: `/api/v${version}/checks/{uuid}/pings/{n}/body`,
      operationId: 'getPingBody',
      summary: 'Get the body of a ping, byte for byte',
      params: {
        uuid: uuidParam,
        n: { pattern: '[0-9]+', description: "The ping's number.", example: '17' },
      },
      responses: { 200: { description: 'The stored bytes.', content: { 'text/plain': null } }, ...failures },
      async handle(request, response, deps) {
        const key = await admitWriter(request, response, deps)
        const id = await ownCheckId(request.params.uuid, key, deps)
        await readAfterPings([id], response, deps)
        const check = await findCheck(deps.db, request.params.uuid)
        const n = Number(request.params.n)
        const isKept = check !== null && n > check.nPings - deps.config.pingLogLimit && n <= check.nPings
        const length = isKept ? await findBodyLength(deps.db, id, n) : 0
        if (length === 0) throw new NotFoundError('')
        // The bytes are somebody else's: no browser may take them for a page.
        response.setHeader('X-Content-Type-Options', 'nosniff')
        response.setHeader('Content-Type', 'text/plain')
        await sendStream(response, readBody(deps.db, id, n, length), length)
      },
    }),
  ]
}
