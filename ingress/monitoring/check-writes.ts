import { toCheckView } from '#shared/monitoring/checks/view.ts'
import { createCheck } from '#shared/monitoring/operations/create-check.ts'
import { deleteCheck } from '#shared/monitoring/operations/delete-check.ts'
import { pauseCheck } from '#shared/monitoring/operations/pause-check.ts'
import { resumeCheck } from '#shared/monitoring/operations/resume-check.ts'
import { updateCheck } from '#shared/monitoring/operations/update-check.ts'
import type { Route } from '../route.ts'
import { viewOptions } from './check-reads.ts'
import { withStatus, write } from './monitoring-route.ts'
import { type ApiVersion, ownCheck } from './operation.ts'
import { answers, checkRequestSchema, checkSchema, uuidParam } from './schemas.ts'

const WRITER = { kind: 'rw' } as const

/** The changes of checks, for one version of the API. */
export function checkWriteRoutes(version: ApiVersion): Route[] {
  const common = {
    tags: ['Checks'],
    responses: {
      200: answers.check,
      400: answers.invalid,
      401: answers.unauthorized,
      403: answers.forbidden,
      404: answers.notFound,
      413: answers.tooLarge,
      429: answers.tooMany,
      503: answers.unavailable,
    },
  }
  const slugFromName = version < 3
  const body = { required: false, content: { 'application/json': checkRequestSchema } }
  return [
    write({
      ...common,
      path: `/api/v${version}/checks/`,
      operationId: 'createCheck',
      summary: 'Create a check, or update one that `unique` finds',
      params: {},
      body,
      responses: {
        200: { description: 'An existing check, updated.', content: { 'application/json': checkSchema } },
        201: answers.created,
        400: answers.invalid,
        401: answers.unauthorized,
        403: { description: 'The project has as many checks as it may. No body.' },
        413: answers.tooLarge,
        429: answers.tooMany,
        503: answers.unavailable,
      },
      async handle({ key, actor, body, deps, setLag }) {
        const input = { project: key.project, body, slugFromName }
        const { check, isNew, lagMs } = await createCheck(deps.db, actor, input, deps)
        setLag(lagMs)
        return withStatus(isNew ? 201 : 200, toCheckView(check, viewOptions(WRITER, version, deps)))
      },
    }),
    write({
      ...common,
      path: `/api/v${version}/checks/{uuid}`,
      operationId: 'updateCheck',
      summary: 'Update a check',
      description: 'What the request does not name stays.',
      params: { uuid: uuidParam },
      body,
      async handle({ key, actor, params, body, deps, setLag }) {
        const own = await ownCheck(params.uuid, key, deps)
        const input = { ...own, body, slugFromName }
        const { check, lagMs } = await updateCheck(deps.db, actor, input, deps)
        setLag(lagMs)
        return toCheckView(check, viewOptions(WRITER, version, deps))
      },
    }),
    write({
      ...common,
      method: 'delete',
      path: `/api/v${version}/checks/{uuid}`,
      operationId: 'deleteCheck',
      summary: 'Delete a check with its pings, flips and notifications',
      params: { uuid: uuidParam },
      responses: { ...common.responses, 200: { ...answers.check, description: 'The check as it was.' } },
      async handle({ key, actor, params, deps, setLag }) {
        const own = await ownCheck(params.uuid, key, deps)
        const { check, lagMs } = await deleteCheck(deps.db, actor, own, deps)
        setLag(lagMs)
        return toCheckView({ ...check, channelIds: [] }, viewOptions(WRITER, version, deps))
      },
    }),
    stateRoute('pause'),
    stateRoute('resume'),
  ]

  function stateRoute(verb: 'pause' | 'resume'): Route {
    return write({
      ...common,
      path: `/api/v${version}/checks/{uuid}/${verb}`,
      operationId: `${verb}Check`,
      summary: verb === 'pause' ? 'Pause a check' : 'Resume a paused check',
      params: { uuid: uuidParam },
      responses: {
        ...common.responses,
        ...(verb === 'resume' && {
          409: { description: '`check is not paused`', content: { 'text/plain': null } },
        }),
      },
      async handle({ key, actor, params, deps, setLag }) {
        const own = await ownCheck(params.uuid, key, deps)
        const change = verb === 'pause' ? pauseCheck : resumeCheck
        const { check, lagMs } = await change(deps.db, actor, own, deps)
        setLag(lagMs)
        return toCheckView(check, viewOptions(WRITER, version, deps))
      },
    })
  }
}
