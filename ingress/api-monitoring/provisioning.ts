import { z } from 'zod'
import { changeProvisioning } from '#shared/monitoring/operations/projects.ts'
import { findProvisioning } from '#shared/monitoring/pings/provision-store.ts'
import type { Route } from '../route.ts'
import { read, readWriteKey, write } from './monitoring-route.ts'

const schema = z
  .object({
    timeout: z.int().min(60).max(31_536_000).nullable().describe('Seconds.'),
    grace: z.int().min(60).max(31_536_000).nullable().describe('Seconds.'),
    schedule: z.string().max(100).nullable(),
    tz: z.string().nullable(),
    tags: z.string().max(500).nullable(),
    channels: z.string().nullable().describe('As in a check; null: every integration of the project.'),
    policy: z.uuid().nullable(),
  })
  .meta({ id: 'Provisioning' })
const content = { 'application/json': schema }
const common = {
  tags: ['Checks'],
  path: '/api/v3/provisioning',
  params: {},
  errors: [400, 404, 413],
  responses: {
    200: { description: 'The settings; null: the default of a new check.', content },
  },
} as const

/** Settings of checks that their first ping creates; version 3 only. */
export const provisioningRoutes: readonly Route[] = [
  read({
    ...common,
    access: readWriteKey,
    operationId: 'getProvisioning',
    summary: 'Get the settings of checks that their first ping creates',
    handle: async ({ key, deps }) => await findProvisioning(deps.db, key.project.id),
  }),
  write({
    ...common,
    operationId: 'updateProvisioning',
    summary: 'Change the settings of checks that their first ping creates',
    description:
      'Members that the request omits do not change; null resets to the default. A ping with `create=1` may set other values in its query.',
    body: { required: true, content: { 'application/json': schema.partial() } },
    handle: async ({ key, actor, body, deps }) =>
      await changeProvisioning(deps.db, actor, { project: key.project, body }),
  }),
]
