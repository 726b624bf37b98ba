import { z } from 'zod'
import { listIntegrations } from '#shared/monitoring/integrations/store.ts'
import type { Route } from '../route.ts'
import { read, readWriteKey } from './monitoring-route.ts'
import type { ApiVersion } from './operation.ts'
import { answers, channelSchema } from './schemas.ts'

/** The list of integrations, for one version of the API. */
export function channelRoutes(version: ApiVersion): Route[] {
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
          description: 'In the order of their creation.',
          content: { 'application/json': z.object({ channels: z.array(channelSchema) }) },
        },
        401: answers.unauthorized,
        429: answers.tooMany,
        503: answers.unavailable,
      },
      async handle({ key, deps }) {
        const channels = await listIntegrations(deps.db, key.project.id)
        return { channels: channels.map(({ uuid, name, kind }) => ({ id: uuid, name, kind })) }
      },
    }),
  ]
}
