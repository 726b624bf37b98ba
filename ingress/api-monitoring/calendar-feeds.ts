import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import { isPresent, readText, refuseUnknown } from '#shared/monitoring/alerting/fields.ts'
import { type CalendarFeed, feedsOf } from '#shared/monitoring/on-call/feed-store.ts'
import { findSchedule } from '#shared/monitoring/on-call/schedule-store.ts'
import { createScheduleFeed, revokeFeed } from '#shared/monitoring/operations/calendar-feeds.ts'
import { auditedActor } from '#shared/tenancy/actor.ts'
import { toIsoSeconds } from '#shared/time.ts'
import type { Route } from '../route.ts'
import { read, readWriteKey, withStatus, write } from './monitoring-route.ts'
import { feedParam, instant, json, scheduleParam } from './on-call-schemas.ts'

const feedSchema = z.object({ id: z.uuid(), name: z.string(), by: z.string(), created_at: instant })
const newFeedSchema = feedSchema.extend({ url: z.url().describe('Shown once.') })
const common = { tags: ['On call'], errors: [400, 404, 413] }

/** Calendar feeds of on-call schedules; version 3 only. */
export const feedRoutes: readonly Route[] = [
  read({
    ...common,
    access: readWriteKey,
    path: '/api/v3/on-call/schedules/{schedule}/feeds/',
    operationId: 'listCalendarFeeds',
    summary: 'List the calendar feeds of an on-call schedule',
    params: { schedule: scheduleParam },
    responses: { 200: { description: 'The feeds.', content: json(z.object({ feeds: z.array(feedSchema) })) } },
    async handle({ key, params, deps }) {
      const schedule = await findSchedule(deps.db, key.project.id, params.schedule)
      if (!schedule) throw new NotFoundError('')
      return { feeds: (await feedsOf(deps.db, schedule.id)).map(feedView) }
    },
  }),
  write({
    ...common,
    path: '/api/v3/on-call/schedules/{schedule}/feeds/',
    operationId: 'createCalendarFeed',
    summary: 'Create a calendar feed of an on-call schedule',
    params: { schedule: scheduleParam },
    body: { required: false, content: json(z.object({ name: z.string().max(100).nullish() })) },
    responses: {
      201: { description: 'The feed and its address, which is shown once.', content: json(newFeedSchema) },
      403: { description: 'The schedule has 20 feeds. No body.' },
    },
    async handle({ key, actor, params, body, deps }) {
      const schedule = await findSchedule(deps.db, key.project.id, params.schedule)
      if (!schedule) throw new NotFoundError('')
      const name = isPresent(body.name) ? readText(body.name, 'name', { max: 100 }) : ''
      refuseUnknown(body, '', ['name', 'api_key'])
      const by = auditedActor(actor).actor
      const input = { project: key.project, uuid: schedule.uuid, name, by, secrets: deps.secrets }
      const { feed, token } = await createScheduleFeed(deps.db, actor, input)
      return withStatus(201, { ...feedView(feed), url: `${deps.config.publicUrl}/cal/${token}.ics` })
    },
  }),
  write({
    ...common,
    method: 'delete',
    path: '/api/v3/on-call/feeds/{feed}',
    operationId: 'revokeCalendarFeed',
    summary: 'Revoke a calendar feed',
    params: { feed: feedParam },
    responses: { 200: { description: 'The feed.', content: json(feedSchema) } },
    async handle({ key, actor, params, deps }) {
      return feedView(await revokeFeed(deps.db, actor, { project: key.project, uuid: params.feed }))
    },
  }),
]

function feedView({ uuid, name, createdBy, createdAt }: CalendarFeed) {
  return { id: uuid, name, by: createdBy, created_at: toIsoSeconds(createdAt) }
}
