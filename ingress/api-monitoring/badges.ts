import { badgeListTexts } from '#shared/monitoring/badges/signature.ts'
import { listTags } from '#shared/monitoring/badges/store.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import type { Route } from '../route.ts'
import { sendPieces, textPieces } from '../text-pieces.ts'
import { anyKey, read } from './monitoring-route.ts'
import type { ApiVersion } from './operation.ts'
import { badgesSchema } from './schemas.ts'

export function badgeRoutes(version: ApiVersion): Route[] {
  return [
    read({
      path: `/api/v${version}/badges/`,
      operationId: 'listBadges',
      summary: 'List the badge URLs of every tag, and of the whole project under `*`',
      tags: ['Badges'],
      access: anyKey,
      params: {},
      responses: {
        200: { description: 'The badge URLs by tag.', content: { 'application/json': badgesSchema } },
      },
      async handle({ key: { project }, deps }) {
        const tags = (await listTags(deps.db, project.id)).flatMap(splitTags)
        const texts = badgeListTexts(deps.config.publicUrl, deps.badges.secret, project.badgeKey, tags)
        const pieces = await textPieces(texts)
        return (response) => sendPieces(response, 'application/json', pieces)
      },
    }),
  ]
}
