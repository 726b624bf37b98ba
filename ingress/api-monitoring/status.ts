import { pingServer } from '#shared/platform/database/server.ts'
import { defineRoute, type Route } from '../route.ts'
import type { ApiVersion } from './operation.ts'

/** Reports to external monitors if the database answers. Needs no key, accepts any method (docs/spec/monitoring.md#other-endpoints). */
export function statusRoute(version: ApiVersion): Route {
  return defineRoute({
    method: 'get',
    anyMethod: true,
    path: `/api/v${version}/status/`,
    operationId: 'getStatus',
    summary: 'Tell whether the service works',
    tags: ['Status'],
    security: [],
    params: {},
    responses: {
      200: { description: '`OK`: a query was answered.', content: { 'text/plain': null } },
      500: { description: 'The database does not answer.' },
    },
    async handle(_request, response, deps) {
      try {
        await pingServer(deps.healthDb)
      } catch {
        response.status(500).end()
        return
      }
      response.type('text/plain').end('OK')
    },
  })
}
