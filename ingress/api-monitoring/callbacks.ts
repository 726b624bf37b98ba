import type { Request } from 'express'
import { z } from 'zod'
import { integrationDisabled } from '#shared/contracts/worker-messages.ts'
import { type LateFailure, recordLateFailure } from '#shared/monitoring/notifications/callback-store.ts'
import {
  failureOfForm,
  failureOfStatus,
  GATEWAY_KINDS,
  isSigned,
  readBounceAddress,
  signedOfBounce,
  signedOfCallback,
} from '#shared/monitoring/notifications/callbacks.ts'
import { readBounce } from '#shared/monitoring/notifications/limits.ts'
import { acrossTenants } from '#shared/platform/database/tenant.ts'
import type { IngressDeps } from '../deps.ts'
import { openBody, readBody } from '../middleware/body.ts'
import { defineRoute, type Route } from '../route.ts'
import { answers, uuidParam } from './schemas.ts'

const MAX_FORM_BYTES = 20_000
/** Bytes of the mail headers that are searched for its recipient. */
const MAX_ADDRESS_BYTES = 65_536
const CALLBACK_HOURS = 1
const BOUNCE_HOURS = 48

/**
 * Receives late delivery reports from providers (docs/spec/monitoring.md#other-endpoints). Neither route needs a key,
 * because the caller has our signature. Both always answer 200, so that the response does not reveal if a message
 * exists.
 */
export const callbackRoutes: readonly Route[] = [
  defineRoute({
    method: 'post',
    path: '/api/v3/notifications/{uuid}/status',
    operationId: 'reportNotification',
    summary: 'Report the delivery status of a message; for gateways',
    tags: ['Status'],
    security: [],
    params: { uuid: uuidParam },
    query: z.object({
      signature: z
        .string()
        .optional()
        .describe('From the callback URL that the gateway received; without it nothing changes.'),
    }),
    body: { required: false, content: { 'application/x-www-form-urlencoded': null } },
    responses: { 200: { description: 'Always. No body.' }, 413: answers.tooLarge },
    async handle(request, response, deps) {
      const failure = failureOfForm(new URLSearchParams((await readBody(request, MAX_FORM_BYTES)).toString()))
      const { uuid } = request.params
      const query = new URLSearchParams(request.originalUrl.split('?', 2)[1])
      const signature = Buffer.from(query.get('signature') ?? '', 'hex')
      if (failure && isSigned(signature, deps.secrets.digests(signedOfCallback(uuid)))) {
        const notification = { notificationId: uuid, withinHours: CALLBACK_HOURS, kinds: GATEWAY_KINDS, isOnce: true }
        await record(deps, { ...notification, ...failure })
      }
      response.status(200).end()
    },
  }),
  defineRoute({
    method: 'post',
    path: '/api/v3/bounces/',
    operationId: 'reportBounce',
    summary: 'Report a bounced alert mail; for mail servers',
    description:
      'The body is the whole mail. Its recipient is the signed envelope sender of the alert (`BOUNCE_DOMAIN`).',
    tags: ['Status'],
    security: [],
    params: {},
    body: { required: true, content: { 'message/rfc822': null } },
    responses: { 200: { description: 'Always. No body.' }, 413: answers.tooLarge },
    async handle(request, response, deps) {
      await recordBounce(request, deps)
      response.status(200).end()
    },
  }),
]

async function recordBounce(request: Request, deps: IngressDeps): Promise<void> {
  const incoming = openBody(request)
  // The route is public: the rest of the mail is read only if its beginning has our signature.
  const beginning = (await incoming.upTo(MAX_ADDRESS_BYTES)).toString('latin1', 0, MAX_ADDRESS_BYTES)
  if (signedNotification(beginning, deps) === null) return
  const { to, status } = await readBounce(await incoming.all())
  const notificationId = signedNotification(to, deps)
  const failure = failureOfStatus(status)
  if (notificationId === null || !failure) return
  await record(deps, { notificationId, ...failure, withinHours: BOUNCE_HOURS, kinds: ['email'], isOnce: false })
}

/** Returns the notification that the first envelope sender in a text names; null without a valid signature. */
function signedNotification(text: string, { secrets }: IngressDeps): string | null {
  const named = readBounceAddress(text)
  if (!named || !isSigned(named.signature, secrets.digests(signedOfBounce(named.notificationId)))) return null
  return named.notificationId
}

async function record(deps: IngressDeps, failure: LateFailure): Promise<void> {
  const { notificationId, disables } = failure
  // The route has no key, so the message is found by its id only.
  const { isKnown, isDisabledNow } = await acrossTenants(() =>
    deps.outbox.run(async (tx, enqueue) => {
      const recorded = await recordLateFailure(tx, failure)
      if (recorded.isDisabledNow) await enqueue(integrationDisabled, { notificationId })
      return recorded
    }),
  )
  deps.log.info({ notificationId, disables, isDisabledNow, isKnown }, 'notification.failed-later')
}
