import { listTags } from '#shared/monitoring/badges/store.ts'
import { badgesView } from '#shared/monitoring/badges/urls.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { defineRoute, type Route } from '../route.ts'
import { type ApiVersion, admitReader, sendJson } from './operation.ts'
import { answers, badgesSchema } from './schemas.ts'

/** The addresses of badges, for one version of the API. */
export function badgeRoutes(version: ApiVersion): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: `/api/v${version}/badges/`,
      operationId: 'listBadges',
      summary: 'List the badge URLs of every tag, and of the whole project under `*`',
      tags: ['Badges'],
      security: ['projectKey', 'projectKeyReadOnly'],
      params: {},
      responses: {
        200: { description: 'By tag.', content: { 'application/json': badgesSchema } },
        401: answers.unauthorized,
        429: answers.tooMany,
        503: answers.unavailable,
      },
      async handle(request, response, deps) {
        const { project } = await admitReader(request, response, deps)
        const tags = (await listTags(deps.db, project.id)).flatMap(splitTags)
        sendJson(response, badgesView(deps.config.publicUrl, deps.badges.secret, project.badgeKey, tags))
      },
    }),
  ]
}
