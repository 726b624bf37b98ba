import { z } from 'zod'
import { findEndpoint, listEndpoints } from '#shared/webhooks/endpoint-store.ts'
import { readableGroups } from '#shared/webhooks/event-types.ts'
import {
  editEndpoint,
  registerEndpoint,
  removeEndpoint,
  rotateSecret,
  urlRefusal,
} from '#shared/webhooks/operations/endpoints.ts'
import { found } from '#shared/webhooks/operations/lock-endpoint.ts'
import { EndpointChangeBody, NewEndpointBody } from '#shared/webhooks/requests.ts'
import { DEFAULT_PAGE, decodeCursor, encodeCursor, InstantQuery, PageQuery, paged } from '../../paging.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { read, write } from '../risk-route.ts'
import { EmptyBody, EndpointSchema, EndpointWithSecretSchema, endpointParam } from './schemas.ts'
import { endpointView } from './views.ts'

const HOUR = 3600

const common = { tags: ['Webhooks'], access: withScope('webhooks:manage') } as const
const params = { endpointId: endpointParam }

const createEndpoint = write({
  ...common,
  isBodyOptional: true,
  path: '/v1/webhooks/endpoints',
  operationId: 'createWebhookEndpoint',
  summary: 'Register a webhook endpoint',
  description:
    'The answer contains the signing secret, which is shown only once. In the sandbox, events are signed and stored but never sent: see GET /v1/sandbox/webhook-inbox.',
  params: {},
  body: NewEndpointBody,
  returns: EndpointWithSecretSchema,
  status: 201,
  seal: true,
  examine: ({ caller, body, deps }) => urlRefusal(body.url, caller.env, deps),
  async handle({ caller: { organisationId, env, actor, families }, body, tx, deps }) {
    const wanted = { organisationId, env, ...body, readable: readableGroups(families) }
    const { endpoint, secret } = await registerEndpoint(tx, actor, wanted, deps)
    return { ...endpointView(endpoint), secret }
  },
})

const Cursor = z.tuple([InstantQuery, z.uuid()])

const listEndpointsRoute = read({
  ...common,
  path: '/v1/webhooks/endpoints',
  operationId: 'listWebhookEndpoints',
  summary: 'List webhook endpoints, in order of creation',
  params: {},
  query: PageQuery,
  returns: z.object({ endpoints: z.array(EndpointSchema), nextCursor: z.string().nullable() }),
  async handle({ caller, query, deps: { db } }) {
    const limit = query.limit ?? DEFAULT_PAGE
    const after = decodeCursor(query.cursor, Cursor)
    const rows = await listEndpoints(db, {
      organisationId: caller.organisationId,
      env: caller.env,
      after: after && { createdAt: after[0], id: after[1] },
      limit: limit + 1,
    })
    const { page, nextCursor } = paged(rows, limit, ({ createdAt, id }) => encodeCursor([createdAt.toISOString(), id]))
    return { endpoints: page.map(endpointView), nextCursor }
  },
})

const readEndpoint = read({
  ...common,
  path: '/v1/webhooks/endpoints/{endpointId}',
  operationId: 'getWebhookEndpoint',
  summary: 'Get an endpoint',
  params,
  returns: EndpointSchema,
  async handle({ caller, params: { endpointId }, deps: { db } }) {
    return endpointView(found(await findEndpoint(db, caller, endpointId)))
  },
})

const patchEndpoint = write({
  ...common,
  isBodyOptional: true,
  method: 'patch',
  path: '/v1/webhooks/endpoints/{endpointId}',
  operationId: 'changeWebhookEndpoint',
  summary: 'Change an endpoint',
  description: 'Members that the request omits do not change. A new `eventTypes` or `ordered` applies to later events.',
  params,
  body: EndpointChangeBody,
  returns: EndpointSchema,
  async examine({ caller, params: { endpointId }, body, deps }) {
    found(await findEndpoint(deps.db, caller, endpointId))
    return body.url === undefined ? null : await urlRefusal(body.url, caller.env, deps)
  },
  async handle({ caller, params: { endpointId }, body, tx }) {
    const { url = null, description = null, eventTypes = null, ordered = null } = body
    const change = { url, description, eventTypes, ordered }
    return endpointView(await editEndpoint(tx, caller.actor, { scope: caller, endpointId, change }))
  },
})

const deleteEndpoint = write({
  ...common,
  isBodyOptional: true,
  method: 'delete',
  path: '/v1/webhooks/endpoints/{endpointId}',
  operationId: 'deleteWebhookEndpoint',
  summary: 'Delete an endpoint and cancel its pending deliveries',
  params,
  body: EmptyBody,
  returns: null,
  async handle({ caller, params: { endpointId }, tx, deps }) {
    await removeEndpoint(tx, caller.actor, { scope: caller, endpointId }, deps)
    return null
  },
})

const rotateSecretRoute = write({
  ...common,
  isBodyOptional: true,
  path: '/v1/webhooks/endpoints/{endpointId}/rotate-secret',
  operationId: 'rotateWebhookSecret',
  summary: 'Rotate the signing secret; the new one is shown only once',
  description:
    'For `overlapHours` (default 24), events are signed with both secrets. With 0 the old secret ends at once.',
  params,
  body: z.strictObject({ overlapHours: z.int().min(0).max(168).default(24) }),
  returns: EndpointWithSecretSchema,
  seal: true,
  async handle({ caller, params: { endpointId }, body, tx, deps }) {
    const rotation = { scope: caller, endpointId, overlapSeconds: body.overlapHours * HOUR }
    const { endpoint, secret } = await rotateSecret(tx, caller.actor, rotation, deps)
    return { ...endpointView(endpoint), secret }
  },
})

export const endpointRoutes: readonly Route[] = [
  createEndpoint,
  listEndpointsRoute,
  readEndpoint,
  patchEndpoint,
  deleteEndpoint,
  rotateSecretRoute,
]
