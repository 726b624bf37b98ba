import type { Request, Response } from 'express'
import { z } from 'zod'
import { ForbiddenError, NotConfiguredError, UnauthorizedError, ValidationError } from '#shared/errors.ts'
import { isPathToken, isSignedBy } from '#shared/risk/colending/lms-signature.ts'
import { LOAN_EVENTS } from '#shared/risk/colending/mapping.ts'
import { receiveLoanEvent } from '#shared/risk/operations/receive-loan-event.ts'
import { findLmsIntegration } from '#shared/tenancy/organisations/store.ts'
import { toSeconds } from '#shared/time.ts'
import type { IngressDeps } from '../../deps.ts'
import { type IncomingBody, openBody } from '../../middleware/body.ts'
import { JSON_LIMIT, parseOf } from '../../middleware/json-body.ts'
import { problemResponses } from '../../problem-responses.ts'
import { defineRoute, type Route } from '../../route.ts'
import { sendAnswer } from '../answer.ts'
import { checkParams, idParam } from '../path-params.ts'

const ReceivedSchema = z
  .object({
    received: z.literal(true),
    mapped: z.boolean(),
    contractId: z.uuid().nullable(),
    eventType: z.enum(LOAN_EVENTS).nullable(),
    reason: z.enum(['FORMAT_UNKNOWN', 'EVENT_UNKNOWN', 'LOAN_MISSING']).nullable(),
    anchor: z.object({ network: z.string(), txId: z.string(), payloadSha256: z.string() }).nullable(),
  })
  .meta({ id: 'LmsEventReceived' })

const integrationParam = idParam('id of the inbound integration')

const documented = {
  method: 'post',
  tags: ['Co-lending'],
  security: [],
  body: { required: true, content: { 'application/json': z.record(z.string(), z.unknown()) } },
  responses: {
    200: {
      description: 'Received; a repetition gets the same answer with Idempotent-Replayed',
      content: { 'application/json': ReceivedSchema },
    },
    ...problemResponses(400, 401, 403, 413, 503),
  },
} as const

const lmsEventsRoute = defineRoute({
  ...documented,
  path: '/v1/colending/lms-events/{integrationId}',
  operationId: 'receiveLmsEvent',
  summary: 'Receive a signed event of a loan-management system',
  description:
    'The signature is HMAC-SHA256 over the raw body: hex in either case, `sha256=` and hex, or base64. With `x-lms-timestamp` the signed content is `timestamp.body`, and the time must be within five minutes of the server time. Repeated events are recognised by the event id of the partner, or by the hash of the body.',
  params: { integrationId: integrationParam },
  headers: z.object({
    'x-lms-signature': z.string(),
    'x-lms-timestamp': z.string().optional(),
    'x-idempotency-key': z.string().optional().meta({ description: 'accepted, and not needed' }),
  }),
  async handle(request, response, deps) {
    const signature = headerOf(request, 'x-lms-signature')
    const timestamp = headerOf(request, 'x-lms-timestamp')
    await receive(request, response, deps, request.params.integrationId, async (secret, incoming) => {
      if (signature === undefined) return false
      const body = await incoming.all()
      return isSignedBy(secret, { signature, timestamp, body }, toSeconds(deps.now()))
    })
  },
})

const hookRoute = defineRoute({
  ...documented,
  path: '/v1/colending/lms-events/{integrationId}/hooks/{pathToken}',
  operationId: 'receiveLmsHook',
  summary: 'Receive an event of a system that cannot sign, such as Apache Fineract',
  description:
    'The token in the path authenticates the caller: hex HMAC-SHA256 of `lms-path:` and the id of the integration, with its secret.',
  params: {
    integrationId: integrationParam,
    pathToken: {
      pattern: '[^/]{1,300}',
      description: 'token of the integration',
      example: '1d42c335439ed75d4672454f565cac58d87af84a178cfdebeadcf165370354fa',
    },
  },
  async handle(request, response, deps) {
    const { integrationId, pathToken } = request.params
    await receive(request, response, deps, integrationId, (secret) => isPathToken(secret, integrationId, pathToken))
  },
})

export const lmsEventRoutes: readonly Route[] = [lmsEventsRoute, hookRoute]

async function receive(
  request: Request,
  response: Response,
  deps: IngressDeps,
  integrationId: string,
  isAuthentic: (secret: string, incoming: IncomingBody) => Promise<boolean> | boolean,
): Promise<void> {
  checkParams({ integrationId: integrationParam }, { integrationId })
  // The body is read only for a known integration, because the signature covers its bytes.
  const incoming = openBody(request, JSON_LIMIT)
  const integration = await findLmsIntegration(deps.db, integrationId)
  if (integration && integration.sealedSecret === null) {
    throw new NotConfiguredError('no secret is configured for this integration')
  }
  const { sealedSecret } = integration ?? { sealedSecret: null }
  if (
    !integration ||
    sealedSecret === null ||
    !(await isAuthentic(deps.secrets.open('lms-secret', sealedSecret), incoming))
  ) {
    throw new UnauthorizedError('the signature is missing or not valid')
  }
  if (!integration.isEntitled) throw new ForbiddenError('the organisation is not entitled to co-lending evidence')
  const raw = await incoming.all()
  const body = parseOf(request, raw)
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ValidationError('the body must be a JSON object', [
      { path: '', code: 'TYPE', message: 'the body must be a JSON object' },
    ])
  }
  const headers = {
    'x-fineract-entity': headerOf(request, 'x-fineract-entity'),
    'x-fineract-action': headerOf(request, 'x-fineract-action'),
  }
  const { organisationId, env } = integration
  const received = await receiveLoanEvent(
    { ...deps, loanRefKey: deps.risk.loanRefKey },
    { id: integrationId, organisationId, env },
    { raw, body, headers },
  )
  const sent = {
    status: 200,
    headers: received.isReplay ? { 'Idempotent-Replayed': 'true' } : {},
    body: received.answer,
  }
  sendAnswer(response, sent, deps)
}

/** A repeated header is ambiguous, so it counts as absent. */
function headerOf(request: Request, name: string): string | undefined {
  const value = request.headers[name]
  return typeof value === 'string' ? value : undefined
}
