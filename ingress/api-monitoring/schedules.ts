import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import { listSchedules, type StoredSchedule } from '#shared/monitoring/on-call/schedule-store.ts'
import { warningView } from '#shared/monitoring/on-call/warnings.ts'
import { previewSchedule } from '#shared/monitoring/operations/preview-schedule.ts'
import { loadScheduleUse } from '#shared/monitoring/operations/reachable.ts'
import { type LoadedFacts, loadOnCallFacts } from '#shared/monitoring/operations/record-shifts.ts'
import { createSchedule, deleteSchedule, updateSchedule } from '#shared/monitoring/operations/schedules.ts'
import type { ProjectKey } from '#shared/monitoring/projects/store.ts'
import { mapYielding } from '#shared/platform/process/time-slices.ts'
import type { IngressDeps } from '../deps.ts'
import type { Route } from '../route.ts'
import { pageOf, pageQuery } from './list-page.ts'
import { read, readWriteKey, withStatus, write } from './monitoring-route.ts'
import { requireReadableSchedule } from './on-call.ts'
import {
  instant,
  json,
  previewSchema,
  scheduleParam,
  scheduleRequestSchema,
  scheduleSchema,
} from './on-call-schemas.ts'
import { personView, shiftView, spanView, storedScheduleView } from './on-call-views.ts'

const common = {
  tags: ['On call'],
  errors: [400, 404, 413],
  responses: { 200: { description: 'The schedule.', content: json(scheduleSchema) } },
}
const body = { required: true, content: json(scheduleRequestSchema) }
const conflict = { 409: { description: 'Another schedule of the project has this name.' } }

/** On-call schedules; version 3 only. */
export const scheduleRoutes: readonly Route[] = [
  read({
    ...common,
    access: readWriteKey,
    path: '/api/v3/on-call/schedules/',
    operationId: 'listSchedules',
    summary: 'List the on-call schedules of the project and shared ones of its organisation',
    params: {},
    query: pageQuery,
    responses: {
      200: {
        description: 'A page of schedules, newest first; `next` is the cursor of the next page.',
        content: json(z.object({ schedules: z.array(scheduleSchema), next: z.string().nullable() })),
      },
    },
    async handle({ key, request, deps }) {
      const { page, next } = pageOf(await listSchedules(deps.db, key.project), request)
      const now = deps.now()
      const facts = await loadOnCallFacts(deps.db, page, now)
      const useOf = await loadScheduleUse(deps.db, facts, visibleTo(key.project), deps)
      const view = (each: LoadedFacts) => storedScheduleView(each, now, useOf(each.schedule.uuid))
      return { schedules: await mapYielding(facts, view), next }
    },
  }),
  write({
    ...common,
    path: '/api/v3/on-call/schedules/',
    operationId: 'createSchedule',
    summary: 'Create an on-call schedule',
    params: {},
    body,
    responses: {
      ...common.responses,
      201: { description: 'The schedule.', content: json(scheduleSchema) },
      403: { description: 'The project has 50 schedules. No body.' },
      ...conflict,
    },
    async handle({ key, actor, body, deps }) {
      const input = { project: key.project, body, now: deps.now() }
      return withStatus(201, await shown(deps, key.project, await createSchedule(deps.db, actor, input)))
    },
  }),
  write({
    ...common,
    path: '/api/v3/on-call/schedules/preview',
    operationId: 'previewSchedule',
    summary: 'Preview the shifts, warnings and changes of an on-call schedule',
    description: 'Stores nothing. With `id`, the members of `schedule` change that schedule, and `changes` compares.',
    params: {},
    body: {
      required: true,
      content: json(
        z.object({
          schedule: scheduleRequestSchema,
          id: z.uuid().nullish(),
          from: instant.nullish().describe('Default: now.'),
          until: instant.nullish().describe('Default: 14 days after `from`; at most 93 days after it.'),
        }),
      ),
    },
    responses: { 200: { description: 'The preview.', content: json(previewSchema) } },
    async handle({ key, body, deps }) {
      const { people, ...preview } = await previewSchedule(
        deps.db,
        { project: key.project, body, now: deps.now() },
        deps,
      )
      return {
        shifts: preview.shifts.map((shift) => shiftView(shift, people)),
        warnings: preview.warnings.map(warningView),
        changes: preview.changes.map(({ person, added, removed }) => ({
          person: personView(person, people),
          added: added.map(spanView),
          removed: removed.map(spanView),
        })),
      }
    },
  }),
  read({
    ...common,
    access: readWriteKey,
    path: '/api/v3/on-call/schedules/{schedule}',
    operationId: 'getSchedule',
    summary: 'Get an on-call schedule',
    params: { schedule: scheduleParam },
    async handle({ key, params, deps }) {
      return await shown(deps, key.project, await requireReadableSchedule(deps, key, params.schedule))
    },
  }),
  write({
    ...common,
    path: '/api/v3/on-call/schedules/{schedule}',
    operationId: 'updateSchedule',
    summary: 'Change an on-call schedule',
    description:
      'Members that the request omits do not change; null resets to the default. The change is effective immediately; earlier shifts stay as recorded.',
    params: { schedule: scheduleParam },
    body,
    responses: { ...common.responses, ...conflict },
    async handle({ key, actor, params, body, deps }) {
      const input = { project: key.project, uuid: params.schedule, body, now: deps.now() }
      return await shown(deps, key.project, await updateSchedule(deps.db, actor, input))
    },
  }),
  write({
    ...common,
    method: 'delete',
    path: '/api/v3/on-call/schedules/{schedule}',
    operationId: 'deleteSchedule',
    summary: 'Delete an on-call schedule with its overrides and recorded shifts',
    params: { schedule: scheduleParam },
    responses: {
      ...common.responses,
      409: {
        description: '`is used by policy "<name>"`; `is used by 1 policy of another project` if the key cannot read it',
        content: { 'text/plain': null },
      },
    },
    async handle({ key, actor, params, deps }) {
      const { db } = deps
      const { project } = key
      const input = { project, uuid: params.schedule, now: deps.now(), visible: [project] }
      const deleted = await deleteSchedule(db, actor, input, deps)
      return await shown(deps, key.project, deleted)
    },
  }),
]

const visibleTo = (project: ProjectKey['project']) => ({ organisationId: project.organisationId, visible: [project] })

async function shown(deps: IngressDeps, project: ProjectKey['project'], schedule: StoredSchedule) {
  const now = deps.now()
  const [facts] = await loadOnCallFacts(deps.db, [schedule], now)
  if (!facts) throw new NotFoundError('')
  const useOf = await loadScheduleUse(deps.db, [facts], visibleTo(project), deps)
  return storedScheduleView(facts, now, useOf(schedule.uuid))
}
