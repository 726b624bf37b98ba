import type { Request, Response } from 'express'
import { z } from 'zod'
import { ValidationError } from '#shared/errors.ts'
import { parseFlipFilters } from '#shared/monitoring/flips/filters.ts'
import { listFlips } from '#shared/monitoring/flips/store.ts'
import { toFlipView } from '#shared/monitoring/flips/view.ts'
import type { IngressDeps } from '../deps.ts'
import { queryOf } from '../middleware/form-text.ts'
import { defineRoute, type Route } from '../route.ts'
import { jsonListTexts, sendPieces, textPieces } from '../text-pieces.ts'
import { type ApiVersion, admitReader, ownCheckId, readAfterPings } from './operation.ts'
import { answers, flipSchema, uniqueKeyParam, uuidParam } from './schemas.ts'
import { uuidOfUniqueKey } from './unique-keys.ts'

/** Changes of status, for one version of the API. */
export function flipRoutes(version: ApiVersion): Route[] {
  const common = {
    method: 'get',
    tags: ['Flips'],
    security: ['projectKey', 'projectKeyReadOnly'],
    summary: 'List the changes of status of a check, newest first',
    query: z.object({
      seconds: z.string().optional().describe('Of the last so many seconds; 0 means all.'),
      start: z.string().optional().describe('UNIX timestamp: not older than it.'),
      end: z.string().optional().describe('UNIX timestamp: older than it.'),
    }),
    responses: {
      200: { description: 'The flips.', content: { 'application/json': z.array(flipSchema) } },
      400: { description: 'A filter is not valid. No body.' },
      401: answers.unauthorized,
      403: answers.forbidden,
      404: answers.notFound,
      429: answers.tooMany,
      503: answers.unavailable,
    },
  } as const
  return [
    defineRoute({
      ...common,
      path: `/api/v${version}/checks/{uuid}/flips/`,
      operationId: 'listFlips',
      description: 'Takes the unique_key instead of the uuid as well.',
      params: { uuid: uuidParam },
      async handle(request, response, deps) {
        const key = await admitReader(request, response, deps)
        await answerFlips(await ownCheckId(request.params.uuid, key, deps), request, response, deps)
      },
    }),
    defineRoute({
      ...common,
      path: `/api/v${version}/checks/{unique_key}/flips/`,
      operationId: 'listFlipsByUniqueKey',
      documentedBy: 'listFlips',
      params: { unique_key: uniqueKeyParam },
      async handle(request, response, deps) {
        const key = await admitReader(request, response, deps)
        const uuid = await uuidOfUniqueKey(request.params.unique_key, key, deps)
        await answerFlips(await ownCheckId(uuid, key, deps), request, response, deps)
      },
    }),
  ]
}

async function answerFlips(checkId: number, request: Request, response: Response, deps: IngressDeps): Promise<void> {
  const range = parseFlipFilters(queryOf(request), deps.now())
  if (!range) throw new ValidationError('')
  await readAfterPings([checkId], response, deps)
  const flips = await listFlips(deps.db, checkId, range)
  await sendPieces(response, 'application/json', await textPieces(jsonListTexts(flips, toFlipView)))
}
