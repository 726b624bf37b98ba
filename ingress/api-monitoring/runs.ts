import { z } from 'zod'
import { toRunView, toStatsView } from '#shared/monitoring/rules/run.ts'
import { listRuns, readRunStats } from '#shared/monitoring/rules/run-store.ts'
import { queryOf } from '../middleware/form-text.ts'
import { paged } from '../paging.ts'
import type { Route } from '../route.ts'
import { read, readWriteKey } from './monitoring-route.ts'
import { numberOf, requireCheckId } from './operation.ts'
import { runSchema, runStatsSchema } from './run-schemas.ts'
import { uuidParam } from './schemas.ts'

const json = (schema: z.ZodType) => ({ 'application/json': schema })
const common = { tags: ['Alerting'], access: readWriteKey, params: { uuid: uuidParam } } as const
const errors = [400, 403, 404]

/** Runs of checks with a run rule; version 3 only. */
export const runRoutes: readonly Route[] = [
  read({
    ...common,
    path: '/api/v3/checks/{uuid}/runs/',
    operationId: 'listRuns',
    summary: 'List the newest runs of a check, newest first',
    description: 'Empty unless the rules of the check watch its runs. The newest 500 runs are stored.',
    query: z.object({
      limit: z.string().optional().describe('1-100; 50 by default.'),
      before: z.string().optional().describe('The `next` of the previous page.'),
    }),
    errors,
    responses: {
      200: {
        description: 'A page of runs; `next` is the cursor of the next page.',
        content: json(z.object({ runs: z.array(runSchema), next: z.string().nullable() })),
      },
    },
    async handle({ key, params: { uuid }, request, deps, setLag }) {
      const id = await requireCheckId(uuid, key, deps)
      const query = queryOf(request)
      const limit = numberOf(query, 'limit', { min: 1, max: 100 }) ?? 50
      const before = numberOf(query, 'before', { min: 0, max: Number.MAX_SAFE_INTEGER })
      setLag(await deps.barrier.pass([id]))
      const { page, nextCursor } = paged(await listRuns(deps.db, id, before, limit + 1), limit, ({ n }) => String(n))
      const now = deps.now()
      return { runs: page.map((run) => toRunView(run, now)), next: nextCursor }
    },
  }),
  read({
    ...common,
    path: '/api/v3/checks/{uuid}/runs/stats',
    operationId: 'getRunStats',
    summary: 'Get the run times of a check, and its missed runs',
    errors,
    responses: { 200: { description: 'The figures.', content: json(runStatsSchema) } },
    async handle({ key, params: { uuid }, deps, setLag }) {
      const id = await requireCheckId(uuid, key, deps)
      setLag(await deps.barrier.pass([id]))
      return toStatsView(await readRunStats(deps.db, id))
    },
  }),
]
