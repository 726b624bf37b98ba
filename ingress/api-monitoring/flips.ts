import { z } from 'zod'
import { ValidationError } from '#shared/errors.ts'
import { parseFlipFilters, toFlipView } from '#shared/monitoring/flips/filters.ts'
import { listFlips } from '#shared/monitoring/flips/store.ts'
import { queryOf } from '../middleware/form-text.ts'
import type { Route } from '../route.ts'
import { jsonListTexts, sendPieces, textPieces } from '../text-pieces.ts'
import { anyKey, type Context, type Reply, read } from './monitoring-route.ts'
import { type ApiVersion, requireCheckId, uuidOfUniqueKey } from './operation.ts'
import { flipSchema, uniqueKeyParam, uuidParam } from './schemas.ts'

export function flipRoutes(version: ApiVersion): Route[] {
  const common = {
    tags: ['Flips'],
    access: anyKey,
    summary: 'List the changes of status of a check, newest first',
    query: z.object({
      seconds: z.string().optional().describe('Only the last N seconds; 0 means all.'),
      start: z.string().optional().describe('Only entries at or after this UNIX timestamp.'),
      end: z.string().optional().describe('Only entries before this UNIX timestamp.'),
    }),
    errors: [403, 404],
    responses: {
      200: { description: 'The flips.', content: { 'application/json': z.array(flipSchema) } },
      400: { description: 'A filter is not valid. No body.' },
    },
  } as const
  return [
    read({
      ...common,
      path: `/api/v${version}/checks/{uuid}/flips/`,
      operationId: 'listFlips',
      description: 'The path accepts the unique_key instead of the uuid.',
      params: { uuid: uuidParam },
      async handle({ key, params, ...context }) {
        return await flipsOf(await requireCheckId(params.uuid, key, context.deps), context)
      },
    }),
    read({
      ...common,
      path: `/api/v${version}/checks/{unique_key}/flips/`,
      operationId: 'listFlipsByUniqueKey',
      documentedBy: 'listFlips',
      params: { unique_key: uniqueKeyParam },
      async handle({ key, params, ...context }) {
        const uuid = await uuidOfUniqueKey(params.unique_key, key, context.deps)
        return await flipsOf(await requireCheckId(uuid, key, context.deps), context)
      },
    }),
  ]
}

async function flipsOf(
  checkId: number,
  { request, deps, setLag }: Pick<Context<string>, 'request' | 'deps' | 'setLag'>,
): Promise<Reply> {
  const range = parseFlipFilters(queryOf(request), deps.now())
  if (!range) throw new ValidationError('')
  setLag(await deps.barrier.pass([checkId]))
  const flips = await listFlips(deps.db, checkId, range)
  const pieces = await textPieces(jsonListTexts(flips, toFlipView))
  return (response) => sendPieces(response, 'application/json', pieces)
}
