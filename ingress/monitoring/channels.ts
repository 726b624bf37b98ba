import { z } from 'zod'
import { listChannels } from '#shared/monitoring/channels/store.ts'
import { defineRoute, type Route } from '../route.ts'
import { type ApiVersion, admitWriter, sendJson } from './operation.ts'
import { answers, channelSchema } from './schemas.ts'

/** The list of integrations, for one version of the API. */
export function channelRoutes(version: ApiVersion): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: `/api/v${version}/channels/`,
      operationId: 'listChannels',
      summary: 'List integrations, disabled ones included',
      tags: ['Integrations'],
      security: ['projectKey'],
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
      async handle(request, response, deps) {
        const { project } = await admitWriter(request, response, deps)
        const channels = await listChannels(deps.db, project.id)
        sendJson(response, { channels: channels.map(({ uuid, name, kind }) => ({ id: uuid, name, kind })) })
      },
    }),
  ]
}
