import type { Response } from 'express'
import { NotFoundError } from '#shared/errors.ts'
import { type BadgeFormat, parseBadgeFormat, renderBadge } from '#shared/monitoring/badges/badge.ts'
import {
  ALL_TAGS,
  type BadgeStates,
  resolveBadgeTag,
  verifyBadgeSignature,
} from '#shared/monitoring/badges/signature.ts'
import { type BadgeCounts, badgeState, countStatus, NO_CHECKS } from '#shared/monitoring/badges/state.ts'
import { findCheckByBadgeKey, listShownChecks } from '#shared/monitoring/checks/shown-store.ts'
import { shownStatus } from '#shared/monitoring/checks/status.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { findProjectByBadgeKey } from '#shared/monitoring/projects/store.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { asTenant } from '#shared/platform/database/tenant.ts'
import { createTimeSlices } from '#shared/platform/process/time-slices.ts'
import { toDate } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import type { IngressDeps } from '../deps.ts'
import { defineRoute, type PathParam, type Route } from '../route.ts'
import { answers, uuidParam } from './schemas.ts'

const badgeKey: PathParam = { pattern: '[^/]+', description: 'Badge key of the project.', example: uuidParam.example }
const signature: PathParam = { pattern: '[^/]+', description: 'As in the list of badge URLs.', example: '9kz4qTJx-2' }
const format: PathParam = { pattern: '[a-z]+', description: 'svg, json or shields.', example: 'svg' }

const common = {
  method: 'get',
  tags: ['Badges'],
  security: [],
  description: 'Use the badge URLs that the API returns. No key is needed.',
  responses: {
    200: { description: 'The badge.', content: { 'image/svg+xml': null, 'application/json': null } },
    404: answers.notFound,
    503: answers.unavailable,
  },
} as const

/** Serves badges (docs/spec/monitoring.md#badges). They may be some seconds old and do not wait for pings in flight. */
export const badgeImageRoutes: readonly Route[] = [
  defineRoute({
    ...common,
    path: '/badge/{badge_key}/{signature}/{tag}.{format}',
    operationId: 'getTagBadge',
    summary: 'Get the badge of a tag',
    params: {
      badge_key: badgeKey,
      signature,
      tag: { pattern: '[^/]+', description: 'Percent-encoded twice.', example: 'prod' },
      format,
    },
    async handle({ params }, response, deps) {
      const resolved = isUuid(params.badge_key)
        ? resolveBadgeTag(deps.badges.secret, params.badge_key, params.tag, params.signature)
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
    summary: 'Get the badge of a project',
    params: { badge_key: badgeKey, signature, format },
    async handle({ params }, response, deps) {
      const states = isUuid(params.badge_key)
        ? verifyBadgeSignature(deps.badges.secret, params.badge_key, ALL_TAGS, params.signature)
        : null
      if (states === null) throw new NotFoundError('')
      await answerForProject(params, { label: deps.config.siteName, tag: null, states }, response, deps)
    },
  }),
  defineRoute({
    ...common,
    path: '/b/{states}/{badge_key}.{format}',
    operationId: 'getCheckBadge',
    summary: 'Get the badge of a check',
    params: {
      states: { pattern: '[0-9]+', description: '3 for three states, else two.', example: '2' },
      badge_key: { ...uuidParam, description: 'Badge key of the check.' },
      format,
    },
    async handle({ params }, response, deps) {
      const wanted = formatOf(params.format)
      const badge = await deps.badges.ofCheck(params.badge_key, () => readCheckBadge(params.badge_key, deps))
      if (!badge) throw new NotFoundError('')
      answer(wanted, badge.label, badge.counts, params.states === '3' ? 3 : 2, response, deps)
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
  const read = () => asTenant({ projectId: project.id }, () => countByTag(project.id, deps))
  const counts = await deps.badges.tagCounts(String(project.id), read)
  answer(wanted, badge.label, counts.get(badge.tag) ?? NO_CHECKS, badge.states, response, deps)
}

/** Counts the checks of a project by tag; the key null counts all checks. */
async function countByTag(projectId: number, deps: IngressDeps): Promise<Map<string | null, BadgeCounts>> {
  const now = deps.now()
  const slices = createTimeSlices()
  const counts = new Map<string | null, BadgeCounts>()
  for (const check of await listShownChecks(deps.db, projectId)) {
    const status = shownStatus(check, now, nextOccurrence)
    for (const tag of new Set([null, ...splitTags(check.tags)])) {
      counts.set(tag, countStatus(counts.get(tag) ?? NO_CHECKS, status))
    }
    await slices.yieldIfNeeded()
  }
  return counts
}

async function readCheckBadge(badgeKey: string, deps: IngressDeps) {
  const check = await findCheckByBadgeKey(deps.db, badgeKey)
  if (!check) return null
  const counts = countStatus(NO_CHECKS, shownStatus(check, deps.now(), nextOccurrence))
  return { label: check.name === '' ? check.uuid : check.name, counts }
}

function answer(
  wanted: BadgeFormat,
  label: string,
  counts: BadgeCounts,
  states: BadgeStates,
  response: Response,
  deps: IngressDeps,
): void {
  const { contentType, body } = renderBadge(wanted, label, badgeState(counts, states))
  response.setHeader('Content-Type', contentType)
  response.setHeader('Cache-Control', 'max-age=0, no-cache, no-store, must-revalidate, private')
  response.setHeader('Expires', toDate(deps.now()).toUTCString())
  // Opened as a document, the image must not run or load anything.
  response.setHeader('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'")
  response.end(body)
}

function formatOf(text: string): BadgeFormat {
  const wanted = parseBadgeFormat(text)
  if (!wanted) throw new NotFoundError('')
  return wanted
}
