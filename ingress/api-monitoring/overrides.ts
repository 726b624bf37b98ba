import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import type { JsonObject } from '#shared/monitoring/checks/json-body.ts'
import { findOverride, overridesOf } from '#shared/monitoring/on-call/override-store.ts'
import { addOverride, removeOverride, takeOver } from '#shared/monitoring/operations/schedules.ts'
import { auditedActor } from '#shared/tenancy/actor.ts'
import type { Route } from '../route.ts'
import { pageOf, pageQuery } from './list-page.ts'
import { type Context, type Reply, read, readWriteKey, withStatus, write } from './monitoring-route.ts'
import { requireReadableSchedule } from './on-call.ts'
import {
  json,
  overrideParam,
  overrideRequestSchema,
  overrideSchema,
  scheduleParam,
  takeRequestSchema,
} from './on-call-schemas.ts'
import { overrideView } from './on-call-views.ts'

const common = {
  tags: ['On call'],
  errors: [400, 404, 413],
  responses: { 200: { description: 'The override.', content: json(overrideSchema) } },
}
const created = {
  201: { description: 'The override.', content: json(overrideSchema) },
  403: { description: 'The schedule has 500 overrides that have not ended. No body.' },
}

/** Overrides of on-call schedules; version 3 only. */
export const overrideRoutes: readonly Route[] = [
  read({
    ...common,
    access: readWriteKey,
    path: '/api/v3/on-call/schedules/{schedule}/overrides/',
    operationId: 'listOverrides',
    summary: 'List the overrides of an on-call schedule that have not ended, newest first',
    params: { schedule: scheduleParam },
    query: pageQuery,
    responses: {
      200: {
        description: 'A page of overrides; `next` is the cursor of the next page.',
        content: json(z.object({ overrides: z.array(overrideSchema), next: z.string().nullable() })),
      },
    },
    async handle({ key, params, request, deps }) {
      const { id, uuid } = await requireReadableSchedule(deps, key, params.schedule)
      const { page, next } = pageOf(await overridesOf(deps.db, [id], deps.now()), request)
      return { overrides: page.map((override) => overrideView(override, uuid)), next }
    },
  }),
  write({
    ...common,
    path: '/api/v3/on-call/schedules/{schedule}/overrides/',
    operationId: 'createOverride',
    summary: 'Put a person on call for a time',
    description: 'With `replaces`, the override affects only the time of that person, also after later changes.',
    params: { schedule: scheduleParam },
    body: { required: true, content: json(overrideRequestSchema) },
    responses: created,
    handle: (context) => putOnCall(context, addOverride),
  }),
  write({
    ...common,
    path: '/api/v3/on-call/schedules/{schedule}/take',
    operationId: 'takeShift',
    summary: 'Put a person on call from now on',
    params: { schedule: scheduleParam },
    body: { required: true, content: json(takeRequestSchema) },
    responses: created,
    handle: (context) => putOnCall(context, takeOver),
  }),
  read({
    ...common,
    access: readWriteKey,
    path: '/api/v3/on-call/overrides/{override}',
    operationId: 'getOverride',
    summary: 'Get an override',
    params: { override: overrideParam },
    async handle({ key, params, deps }) {
      const override = await findOverride(deps.db, key.project.id, params.override)
      if (!override) throw new NotFoundError('')
      return overrideView(override, override.scheduleUuid)
    },
  }),
  write({
    ...common,
    method: 'delete',
    path: '/api/v3/on-call/overrides/{override}',
    operationId: 'deleteOverride',
    summary: 'Delete an override; its time in the past stays in the recorded shifts',
    params: { override: overrideParam },
    async handle({ key, actor, params, deps }) {
      const input = { project: key.project, uuid: params.override, now: deps.now() }
      const override = await removeOverride(deps.db, actor, input)
      return overrideView(override, override.scheduleUuid)
    },
  }),
]

async function putOnCall(
  { key, actor, params, body, deps }: Context<'/{schedule}/'> & { body: JsonObject },
  change: typeof addOverride,
): Promise<Reply> {
  const by = auditedActor(actor).actor
  const input = { project: key.project, uuid: params.schedule, body, by, now: deps.now() }
  return withStatus(201, overrideView(await change(deps.db, actor, input), params.schedule))
}
