import { createHash } from 'node:crypto'
import { NotFoundError, RateLimitedError } from '#shared/errors.ts'
import { loadCalendar } from '#shared/monitoring/operations/calendar-feeds.ts'
import { addressBucket } from '#shared/platform/http/remote-addr.ts'
import { secondsUntilToken } from '#shared/tenancy/rate-limits/store.ts'
import { clientAddress } from '../middleware/request-safety.ts'
import { SHARE_PER_SECOND } from '../middleware/token-taker.ts'
import { defineRoute, type Route } from '../route.ts'

const READS_PER_MINUTE = 30

/** The token in the path authenticates. */
export const calendarRoutes: readonly Route[] = [
  defineRoute({
    method: 'get',
    tags: ['On call'],
    security: [],
    path: '/cal/{token}.ics',
    operationId: 'getCalendar',
    summary: 'Get the shifts of a person or of a schedule as iCalendar',
    params: {
      token: {
        pattern: '[A-Za-z0-9_-]{43}',
        description: 'As in the address that was shown once.',
        example: 'x'.repeat(43),
      },
    },
    responses: {
      200: { description: 'The calendar.', content: { 'text/calendar': null } },
      304: { description: 'It has not changed.' },
      404: { description: 'The address is unknown or revoked.' },
      429: { description: 'More than 30 requests a minute from this address.' },
    },
    async handle(request, response, deps) {
      const bucket = `calendar:${addressBucket(clientAddress(request, deps))}`
      const { granted, left } = await deps.tokens.take(bucket, READS_PER_MINUTE)
      if (!granted) {
        const seconds = secondsUntilToken(left, READS_PER_MINUTE, SHARE_PER_SECOND)
        throw new RateLimitedError('too many requests, slow down', seconds)
      }
      const { publicUrl } = deps.config
      const context = { secrets: deps.secrets, publicUrl, now: deps.now() }
      const text = await loadCalendar(deps.db, request.params.token, context)
      if (text === null) throw new NotFoundError('')
      const etag = `"${createHash('sha256').update(text).digest('base64url')}"`
      response.setHeader('ETag', etag)
      response.setHeader('Cache-Control', 'private, max-age=300')
      response.setHeader('Content-Type', 'text/calendar; charset=utf-8')
      const isUnchanged = request.headers['if-none-match'] === etag
      response.status(isUnchanged ? 304 : 200).end(isUnchanged ? undefined : text)
    },
  }),
]
