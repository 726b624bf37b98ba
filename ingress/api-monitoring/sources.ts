import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import { findCheck } from '#shared/monitoring/checks/store.ts'
import { removeSource } from '#shared/monitoring/operations/rules.ts'
import { findFacts } from '#shared/monitoring/rules/rule-state-store.ts'
import { toSourcesView } from '#shared/monitoring/rules/source-view.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import type { Route } from '../route.ts'
import { read, readWriteKey, write } from './monitoring-route.ts'
import { requireCheck, requireCheckId } from './operation.ts'
import { sourceSchema } from './run-schemas.ts'
import { uuidParam } from './schemas.ts'

const sourcesResponse = {
  description:
    'The sources. `text` states how many report and how many are needed, and names the silent ones. Both are empty if the check has no rule `sources`.',
  content: { 'application/json': z.object({ sources: z.array(sourceSchema), text: z.string() }) },
}
const errors = [403, 404]

/** Sources of checks with the rule `sources`. Only version 3 has these routes. */
export const sourceRoutes: readonly Route[] = [
  read({
    tags: ['Alerting'],
    access: readWriteKey,
    path: '/api/v3/checks/{uuid}/sources/',
    operationId: 'listSources',
    summary: 'List the sources of a check',
    params: { uuid: uuidParam },
    errors,
    responses: { 200: sourcesResponse },
    async handle({ key, params: { uuid }, deps, setLag }) {
      const id = await requireCheckId(uuid, key, deps)
      setLag(await deps.barrier.pass([id]))
      const check = await findCheck(deps.db, uuid)
      if (!check) throw new NotFoundError('')
      const quorum = (await findFacts(deps.db, [id])).get(id)?.sources
      return quorum ? toSourcesView(check, quorum, deps.now(), nextOccurrence) : { sources: [], text: '' }
    },
  }),
  write({
    tags: ['Alerting'],
    method: 'delete',
    path: '/api/v3/checks/{uuid}/sources/{source}',
    operationId: 'deleteSource',
    summary: 'Delete a source; if `expect` is a number, another source can join',
    params: {
      uuid: uuidParam,
      source: { pattern: '[A-Za-z0-9._:-]{1,64}', description: 'Name of the source.', example: 'web2' },
    },
    errors,
    responses: { 200: sourcesResponse },
    async handle({ key, actor, params, deps }) {
      const { check, quorum } = await removeSource(deps.db, actor, {
        ...(await requireCheck(params.uuid, key, deps)),
        name: params.source,
      })
      return toSourcesView(check, quorum, deps.now(), nextOccurrence)
    },
  }),
]
