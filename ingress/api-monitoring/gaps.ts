import { z } from 'zod'
import { shardsNow } from '#shared/contracts/ping-generations.ts'
import { listGaps } from '#shared/monitoring/availability/gap-list-store.ts'
import type { ListedGap } from '#shared/monitoring/availability/notice.ts'
import { toIsoSeconds } from '#shared/time.ts'
import { queryOf } from '../middleware/form-text.ts'
import { paged } from '../paging.ts'
import type { Route } from '../route.ts'
import { pageQuery } from './list-page.ts'
import { anyKey, read } from './monitoring-route.ts'
import { numberOf } from './operation.ts'

const instant = z.iso.datetime({ offset: true }).describe('UTC, whole seconds, offset +00:00.')
const gapSchema = z
  .object({
    from: instant,
    until: instant.nullable().describe('Null while it is open.'),
    listener: z
      .enum(['http', 'smtp', 'sweeper', 'notifier'])
      .describe('A listener, the detection of missing pings, or the sending of notifications.'),
    scope: z.enum(['all', 'some']).describe('Whether pings of all checks or only of some could not be received.'),
    kind: z
      .enum(['full', 'partial', 'clock', 'detection'])
      .describe('`detection`: no pings were lost, notifications were late.'),
    cause: z.string(),
    checks: z.int().describe('Checks of this project that became unknown because of it.'),
  })
  .meta({ id: 'Gap' })

/** Periods in which the service could not receive pings; version 3 only. */
export const gapRoutes: readonly Route[] = [
  read({
    access: anyKey,
    tags: ['Alerting'],
    path: '/api/v3/gaps/',
    operationId: 'listGaps',
    summary: 'List the periods in which the service could not receive pings, newest first',
    params: {},
    query: pageQuery,
    errors: [400],
    responses: {
      200: {
        description: 'A page of gaps; `next` is the cursor of the next page.',
        content: { 'application/json': z.object({ gaps: z.array(gapSchema), next: z.string().nullable() }) },
      },
    },
    async handle({ key, request, deps }) {
      const query = queryOf(request)
      const limit = numberOf(query, 'limit', { min: 1, max: 100 }) ?? 50
      const before = numberOf(query, 'before', { min: 0, max: Number.MAX_SAFE_INTEGER })
      const shards = shardsNow(deps.installation.generations())
      const rows = await listGaps(deps.db, { projectId: key.project.id, before, limit: limit + 1, shards })
      const { page, nextCursor } = paged(rows, limit, ({ id }) => String(id))
      return { gaps: page.map(gapView), next: nextCursor }
    },
  }),
]

function gapView({ from, until, listener, scope, kind, cause, checks }: ListedGap) {
  return {
    from: toIsoSeconds(from),
    until: until === null ? null : toIsoSeconds(until),
    listener,
    scope,
    kind,
    cause,
    checks,
  }
}
