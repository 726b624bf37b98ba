import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import { windowView } from '#shared/monitoring/maintenance/window.ts'
import { findWindow, windowsOf } from '#shared/monitoring/maintenance/window-store.ts'
import { deleteWindow, storeWindow } from '#shared/monitoring/operations/windows.ts'
import { UUID_PATTERN } from '#shared/uuid.ts'
import type { Route } from '../route.ts'
import { pageOf, pageQuery } from './list-page.ts'
import { anyKey, read, withStatus, write } from './monitoring-route.ts'

const json = (schema: z.ZodType) => ({ 'application/json': schema })
const instant = z.iso.datetime({ offset: true }).describe('UTC, whole seconds, offset +00:00.')
const seconds = z.int().min(60).max(2_592_000).describe('Seconds.')
const fields = {
  name: z.string().max(100),
  match: z
    .string()
    .max(500)
    .describe('Empty: nothing; `*`: the whole project; else tags, all of which a check must have.'),
  checks: z.array(z.uuid()).max(500).describe('Checks besides those that match.'),
  starts: instant.optional().describe('Now by default.'),
  ends: instant.optional(),
  every: z.string().max(100).optional().describe('Cron or OnCalendar expression, instead of `starts` and `ends`.'),
  for: seconds.optional().describe('How long it lasts, in seconds of real time.'),
  tz: z.string().optional().describe('IANA name; UTC by default.'),
  uptime: z.enum(['count', 'exclude']).describe('`exclude` takes the time out of uptime, up and down alike.'),
  shown: z.boolean().describe('Whether status pages show the window.'),
}
export const windowSchema = z.object({ id: z.uuid(), ...fields }).meta({ id: 'Window' })
const requestSchema = z.object(fields).partial().meta({ id: 'WindowRequest' })
const windowParam = {
  pattern: UUID_PATTERN,
  description: 'Dashed and in lower case.',
  example: '5f3a2b6e-0d5c-4a55-9a5e-6a0a3f1c9b27',
}
const common = {
  tags: ['Alerting'],
  errors: [400, 404, 413],
  responses: {
    200: { description: 'The window.', content: json(windowSchema) },
  },
}
const body = { required: true, content: json(requestSchema) }

/** Maintenance windows; version 3 only. */
export const windowRoutes: readonly Route[] = [
  read({
    ...common,
    access: anyKey,
    path: '/api/v3/windows/',
    operationId: 'listWindows',
    summary: 'List the maintenance windows of the project, newest first',
    params: {},
    query: pageQuery,
    responses: {
      ...common.responses,
      200: {
        description: 'A page of windows; `next` is the cursor of the next page.',
        content: json(z.object({ windows: z.array(windowSchema), next: z.string().nullable() })),
      },
    },
    async handle({ key, request, deps }) {
      const { page, next } = pageOf(await windowsOf(deps.db, [key.project.id]), request)
      return { windows: page.map(windowView), next }
    },
  }),
  write({
    ...common,
    path: '/api/v3/windows/',
    operationId: 'createWindow',
    summary: 'Create a maintenance window',
    description:
      'During the window, notifications of its checks are suppressed. `{"checks": [...], "for": 3600}` silences checks for one hour.',
    params: {},
    body,
    responses: {
      ...common.responses,
      201: { description: 'The window.', content: json(windowSchema) },
      403: { description: 'The project has 100 windows. No body.' },
    },
    async handle({ key, actor, body, deps }) {
      const input = { project: key.project, uuid: null, body, now: deps.now() }
      return withStatus(201, windowView(await storeWindow(deps.db, actor, input)))
    },
  }),
  read({
    ...common,
    access: anyKey,
    path: '/api/v3/windows/{window}',
    operationId: 'getWindow',
    summary: 'Get a maintenance window',
    params: { window: windowParam },
    async handle({ key, params, deps }) {
      const window = await findWindow(deps.db, key.project.id, params.window)
      if (!window) throw new NotFoundError('')
      return windowView(window)
    },
  }),
  write({
    ...common,
    path: '/api/v3/windows/{window}',
    operationId: 'updateWindow',
    summary: 'Change a maintenance window',
    description:
      'Members that the request omits do not change; null resets to the default. The change is effective immediately.',
    params: { window: windowParam },
    body,
    async handle({ key, actor, params, body, deps }) {
      const input = { project: key.project, uuid: params.window, body, now: deps.now() }
      return windowView(await storeWindow(deps.db, actor, input))
    },
  }),
  write({
    ...common,
    method: 'delete',
    path: '/api/v3/windows/{window}',
    operationId: 'deleteWindow',
    summary: 'Delete a maintenance window',
    params: { window: windowParam },
    async handle({ key, actor, params, deps }) {
      return windowView(await deleteWindow(deps.db, actor, { project: key.project, uuid: params.window }))
    },
  }),
]
