import { z } from 'zod'
import { listIntegrations } from '#shared/monitoring/integrations/store.ts'
import { pingServer } from '#shared/platform/database/server.ts'
import { defineRoute, type Route } from '../route.ts'
import { read, readWriteKey } from './monitoring-route.ts'
import type { ApiVersion } from './operation.ts'
import { integrationSchema } from './schemas.ts'

/** Reports to external monitors if the database answers. Needs no key, accepts any method (docs/spec/monitoring.md#other-endpoints). */
export function statusRoute(version: ApiVersion): Route {
  return defineRoute({
    method: 'get',
    anyMethod: true,
    path: `/api/v${version}/status/`,
    operationId: 'getStatus',
    summary: 'Get the status of the service',
    tags: ['Status'],
    security: [],
    params: {},
    responses: {
      200: { description: '`OK`: a query was answered.', content: { 'text/plain': null } },
      500: { description: 'The database does not answer.' },
    },
    async handle(_request, response, deps) {
      try {
        await pingServer(deps.reserveDb)
      } catch {
        response.status(500).end()
        return
      }
      response.type('text/plain').end('OK')
    },
  })
}

/** The list of integrations, for one version of the API. */
export function integrationListRoutes(version: ApiVersion): Route[] {
  return [
    read({
      path: `/api/v${version}/channels/`,
      operationId: 'listIntegrations',
      summary: 'List integrations, disabled ones included',
      tags: ['Integrations'],
      access: readWriteKey,
      params: {},
      responses: {
        200: {
          description: 'The integrations, in order of creation.',
          content: { 'application/json': z.object({ channels: z.array(integrationSchema) }) },
        },
      },
      async handle({ key, deps }) {
        const integrations = await listIntegrations(deps.db, key.project.id)
        return { channels: integrations.map(({ uuid, name, kind }) => ({ id: uuid, name, kind })) }
      },
    }),
  ]
}
