import type { Response } from 'express'
import { type BadgeFormat, parseBadgeFormat, renderBadge } from '#shared/badges/render.ts'
import { ALL_TAGS, type BadgeStates, resolveBadgeTag, verifyBadgeSignature } from '#shared/badges/signature.ts'
import { badgeState } from '#shared/badges/state.ts'
import type { Check } from '#shared/checks/check.ts'
import { shownStatus } from '#shared/checks/status.ts'
import { findCheckByBadgeKey, listChecks } from '#shared/checks/store.ts'
import { splitTags } from '#shared/checks/tags.ts'
import { NotFoundError } from '#shared/errors.ts'
import { findProjectByBadgeKey } from '#shared/projects/store.ts'
import { nextOccurrence } from '#shared/schedules/schedule.ts'
import type { IngressDeps } from '../deps.ts'
import { perProcess } from '../middleware/per-process.ts'
import { defineRoute, type PathParam, type Route } from '../route.ts'
import { answers, uuidParam } from './schemas.ts'

/** The key that badge signatures are made with. */
export const badgeSecret = perProcess((deps) => deps.secrets.derive('badge-signature'))

const badgeKey: PathParam = { pattern: '[^/]+', description: 'Names the project.', example: uuidParam.example }
const signature: PathParam = { pattern: '[^/]+', description: 'As in the list of badge URLs.', example: '9kz4qTJx-2' }
const format: PathParam = { pattern: '[a-z]+', description: 'svg, json or shields.', example: 'svg' }

const common = {
  method: 'get',
  tags: ['Badges'],
  security: [],
  description: 'Opaque: take the URLs from the API. No key is needed.',
  responses: {
    200: { description: 'The badge.', content: { 'image/svg+xml': null, 'application/json': null } },
    404: answers.notFound,
    503: answers.unavailable,
  },
} as const

/** What badge URLs lead to (monitoring behaviour section 6). They show what is stored, without waiting for pings under way. */
export const badgeImageRoutes: readonly Route[] = [
  defineRoute({
    ...common,
    path: '/badge/{badge_key}/{signature}/{tag}.{format}',
    operationId: 'getTagBadge',
    summary: 'The badge of a tag',
    params: {
      badge_key: badgeKey,
      signature,
      tag: { pattern: '[^/]+', description: 'Percent-encoded twice.', example: 'prod' },
      format,
    },
    async handle({ params }, response, deps) {
      const resolved = isUuid(params.badge_key)
        ? resolveBadgeTag(badgeSecret(deps), params.badge_key, params.tag, params.signature)
        : null
      if (!resolved) throw new NotFoundError('')
      const { tag, states } = resolved
      await answerForProject(params, { label: tag, tag, states }, response, deps)
    },
  }),
  defineRoute({
    ...common,
    path: '/badge/{badge_key}/{signature}.{format}',
    operationId: 'getProjectBadge',
    summary: 'The badge of a whole project',
    params: { badge_key: badgeKey, signature, format },
    async handle({ params }, response, deps) {
      const states = isUuid(params.badge_key)
        ? verifyBadgeSignature(badgeSecret(deps), params.badge_key, ALL_TAGS, params.signature)
        : null
      if (states === null) throw new NotFoundError('')
      await answerForProject(params, { label: deps.config.siteName, tag: null, states }, response, deps)
    },
  }),
  defineRoute({
    ...common,
    path: '/b/{states}/{badge_key}.{format}',
    operationId: 'getCheckBadge',
    summary: 'The badge of one check',
    params: {
      states: { pattern: '[0-9]+', description: '3 for three states, else two.', example: '2' },
      badge_key: { ...uuidParam, description: 'Names the check.' },
      format,
    },
    async handle({ params }, response, deps) {
      const wanted = formatOf(params.format)
      const check = await findCheckByBadgeKey(deps.db, params.badge_key)
      if (!check) throw new NotFoundError('')
      const label = check.name === '' ? check.uuid : check.name
      answer(wanted, label, [check], params.states === '3' ? 3 : 2, response, deps)
    },
  }),
]

async function answerForProject(
  params: { badge_key: string; format: string },
  badge: { label: string; tag: string | null; states: BadgeStates },
  response: Response,
  deps: IngressDeps,
): Promise<void> {
  const wanted = formatOf(params.format)
  const project = await findProjectByBadgeKey(deps.db, params.badge_key)
  if (!project) throw new NotFoundError('')
  const { tag } = badge
  const checks = await listChecks(deps.db, project.id)
  const matching = tag === null ? checks : checks.filter((check) => splitTags(check.tags).includes(tag))
  answer(wanted, badge.label, matching, badge.states, response, deps)
}

function answer(
  wanted: BadgeFormat,
  label: string,
  checks: readonly Check[],
  states: BadgeStates,
  response: Response,
  deps: IngressDeps,
): void {
  const now = deps.now()
  const statuses = checks.map((check) => shownStatus(check, now, nextOccurrence))
  const { contentType, body } = renderBadge(wanted, label, badgeState(statuses, states))
  response.setHeader('Content-Type', contentType)
  response.setHeader('Cache-Control', 'max-age=0, no-cache, no-store, must-revalidate, private')
  response.setHeader('Expires', new Date(now / 1000).toUTCString())
  // Opened by itself an image of ours must not run or load anything.
  response.setHeader('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'")
  response.setHeader('X-Content-Type-Options', 'nosniff')
  response.end(body)
}

function formatOf(text: string): BadgeFormat {
  const wanted = parseBadgeFormat(text)
  if (!wanted) throw new NotFoundError('')
  return wanted
}

function isUuid(text: string): boolean {
  return new RegExp(`^${uuidParam.pattern}$`).test(text)
}
