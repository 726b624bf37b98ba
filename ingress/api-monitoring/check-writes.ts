import type { Request } from 'express'
import { z } from 'zod'
import type { AssignedCheck } from '#shared/monitoring/checks/store.ts'
import { toCheckView } from '#shared/monitoring/checks/view.ts'
import { createCheck, deleteCheck, pauseCheck, resumeCheck, updateCheck } from '#shared/monitoring/operations/checks.ts'
import type { ChangedRules } from '#shared/monitoring/operations/rules.ts'
import type { IngressDeps } from '../deps.ts'
import { queryOf } from '../middleware/form-text.ts'
import type { Route } from '../route.ts'
import { findShownRules, rulesQuery, shownRules, showsRules, viewOptions } from './check-reads.ts'
import { withStatus, write } from './monitoring-route.ts'
import { type ApiVersion, requireCheck } from './operation.ts'
import { answers, checkRequestSchema, checkSchema, uuidParam } from './schemas.ts'

const WRITER = { kind: 'rw' } as const

const common = {
  tags: ['Checks'],
  errors: [400, 403, 404, 413],
  responses: {
    200: answers.check,
  },
}

export function checkWriteRoutes(version: ApiVersion): Route[] {
  const slugFromName = version < 3
  const takesRules = version === 3
  const query = z.object(rulesQuery(version))
  const body = { required: false, content: { 'application/json': checkRequestSchema } }
  return [
    write({
      ...common,
      path: `/api/v${version}/checks/`,
      operationId: 'createCheck',
      summary: 'Create a check, or update one that `unique` finds',
      params: {},
      query,
      body,
      errors: [400, 413],
      responses: {
        200: { description: 'An existing check, updated.', content: { 'application/json': checkSchema } },
        201: answers.created,
        403: { description: 'The project has reached its limit of checks. No body.' },
        ...(takesRules && { 404: { description: 'The project has no such policy. No body.' } }),
      },
      async handle({ key, actor, body, request, deps, setLag }) {
        const input = { project: key.project, body, slugFromName, takesRules }
        const { isNew, lagMs, ...changed } = await createCheck(deps.db, actor, input, deps)
        setLag(lagMs)
        return withStatus(isNew ? 201 : 200, await written(changed, { request, deps, version }))
      },
    }),
    write({
      ...common,
      path: `/api/v${version}/checks/{uuid}`,
      operationId: 'updateCheck',
      summary: 'Update a check',
      description: 'Members that the request omits do not change.',
      params: { uuid: uuidParam },
      query,
      body,
      async handle({ key, actor, params, body, request, deps, setLag }) {
        const own = await requireCheck(params.uuid, key, deps)
        const input = { ...own, body, slugFromName, takesRules }
        const { lagMs, ...changed } = await updateCheck(deps.db, actor, input, deps)
        setLag(lagMs)
        return await written(changed, { request, deps, version })
      },
    }),
    write({
      ...common,
      method: 'delete',
      path: `/api/v${version}/checks/{uuid}`,
      operationId: 'deleteCheck',
      summary: 'Delete a check with its pings, flips and notifications',
      params: { uuid: uuidParam },
      query,
      responses: { ...common.responses, 200: { ...answers.check, description: 'The deleted check.' } },
      async handle({ key, actor, params, request, deps, setLag }) {
        const own = await requireCheck(params.uuid, key, deps)
        // Deleting the check deletes its rules.
        const rules = showsRules(WRITER, version, queryOf(request)) ? (await findShownRules([own], deps))(own) : {}
        const { check, lagMs } = await deleteCheck(deps.db, actor, own, deps)
        setLag(lagMs)
        return { ...toCheckView({ ...check, integrationIds: [] }, viewOptions(WRITER, version, deps)), ...rules }
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
      query,
      responses: {
        ...common.responses,
        ...(verb === 'resume' && {
          409: { description: '`check is not paused`', content: { 'text/plain': null } },
        }),
      },
      async handle({ key, actor, params, request, deps, setLag }) {
        const own = await requireCheck(params.uuid, key, deps)
        const change = verb === 'pause' ? pauseCheck : resumeCheck
        const { check, lagMs } = await change(deps.db, actor, own, deps)
        setLag(lagMs)
        return await written({ check, changedRules: null }, { request, deps, version })
      },
    })
  }
}

/** Returns a changed check, with its rules if the request named or requested them. */
async function written(
  { check, changedRules }: { check: AssignedCheck; changedRules: ChangedRules | null },
  { request, deps, version }: { request: Request; deps: IngressDeps; version: ApiVersion },
) {
  const view = toCheckView(check, viewOptions(WRITER, version, deps))
  if (changedRules) return { ...view, rules: shownRules(changedRules) }
  if (!showsRules(WRITER, version, queryOf(request))) return view
  return { ...view, ...(await findShownRules([check], deps))(check) }
}
