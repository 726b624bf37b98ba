import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import { AnchorSchema } from '#shared/risk/packs/pack-schema.ts'
import { listAgentCalls } from '#shared/tenancy/agents/call-store.ts'
import { listDigests } from '#shared/tenancy/agents/digest-store.ts'
import { findAgentKey, listAgentKeys } from '#shared/tenancy/agents/key-store.ts'
import { createAgentKey, revokeAgentKey } from '#shared/tenancy/operations/agent-keys.ts'
import { toMillis } from '#shared/time.ts'
import {
  DEFAULT_PAGE,
  decodeCursor,
  encodeCursor,
  InstantQuery,
  PageQuery,
  paged,
  sealCursor,
  unsealCursor,
} from '../../paging.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { formParam } from '../path-params.ts'
import { read, write } from '../risk-route.ts'
import { EmptyBody } from '../webhooks/schemas.ts'
import { AgentCallSchema, AgentKeySchema, agentCallView, agentKeyView, NewAgentKeyBody } from './schemas.ts'

const common = { tags: ['Agent tools'], access: withScope('agents:manage') } as const
const keyParam = formParam(/^[A-Z2-7]{16}$/, 'must be 16 characters of A to Z and 2 to 7', {
  description: 'keyId of an agent key',
  example: 'JBSWY3DPEHPK3PXP',
})

const createKey = write({
  ...common,
  path: '/v1/agents/keys',
  operationId: 'createAgentKey',
  summary: 'Create an agent key',
  description:
    'The answer contains the key, which is shown only once. Its scopes must be scopes of the caller and include agents:invoke. monitoring:read and monitoring:write apply to the projects that it names.',
  params: {},
  body: NewAgentKeyBody,
  returns: AgentKeySchema.extend({ key: z.string() }).meta({ id: 'AgentKeyWithSecret' }),
  status: 201,
  seal: true,
  async handle({ caller, body, tx, deps }) {
    const now = toMillis(deps.now())
    const { stored, key } = await createAgentKey(tx, caller.actor, caller, body, now)
    return { ...agentKeyView(stored, now), key }
  },
})

const listKeys = read({
  ...common,
  path: '/v1/agents/keys',
  operationId: 'listAgentKeys',
  summary: 'List agent keys, newest first',
  params: {},
  query: PageQuery,
  returns: z.object({ keys: z.array(AgentKeySchema), nextCursor: z.string().nullable() }),
  async handle({ caller, query, deps }) {
    const limit = query.limit ?? DEFAULT_PAGE
    const before = unsealCursor(query.cursor, deps.secrets)
    const rows = await listAgentKeys(deps.db, caller, { before, limit: limit + 1 })
    const { page, nextCursor } = paged(rows, limit, ({ id }) => sealCursor(id, deps.secrets))
    return { keys: page.map((key) => agentKeyView(key, toMillis(deps.now()))), nextCursor }
  },
})

const readKey = read({
  ...common,
  path: '/v1/agents/keys/{keyId}',
  operationId: 'getAgentKey',
  summary: 'Get an agent key',
  params: { keyId: keyParam },
  returns: AgentKeySchema,
  async handle({ caller, params: { keyId }, deps }) {
    const key = await findAgentKey(deps.db, caller, keyId)
    if (!key) throw new NotFoundError('agent key not found')
    return agentKeyView(key, toMillis(deps.now()))
  },
})

const deleteKey = write({
  ...common,
  isBodyOptional: true,
  method: 'delete',
  path: '/v1/agents/keys/{keyId}',
  operationId: 'revokeAgentKey',
  summary: 'Revoke an agent key; effective within five seconds',
  params: { keyId: keyParam },
  body: EmptyBody,
  returns: null,
  async handle({ caller, params: { keyId }, tx }) {
    await revokeAgentKey(tx, caller.actor, caller, keyId)
    return null
  },
})

const CallsCursor = z.tuple([InstantQuery, z.uuid()])

const listCalls = read({
  ...common,
  path: '/v1/agents/calls',
  operationId: 'listAgentCalls',
  summary: 'List calls of agent tools, newest first',
  description: 'Arguments are stored as the SHA-256 of their canonical JSON.',
  params: {},
  query: PageQuery.extend({ keyId: z.string().max(100).optional() }),
  returns: z.object({ calls: z.array(AgentCallSchema), nextCursor: z.string().nullable() }),
  async handle({ caller, query, deps }) {
    const limit = query.limit ?? DEFAULT_PAGE
    const cursor = decodeCursor(query.cursor, CallsCursor)
    const rows = await listAgentCalls(deps.db, {
      organisationId: caller.organisationId,
      env: caller.env,
      keyId: query.keyId ?? null,
      before: cursor && { calledAt: new Date(cursor[0]), callId: cursor[1] },
      limit: limit + 1,
    })
    const { page, nextCursor } = paged(rows, limit, (call) => encodeCursor([call.calledAt.toISOString(), call.callId]))
    return { calls: page.map(agentCallView), nextCursor }
  },
})

const listDays = read({
  ...common,
  path: '/v1/agents/digests',
  operationId: 'listAgentDigests',
  summary: 'List the anchored Merkle roots over the calls of each day, newest first',
  description:
    'A leaf is the canonical JSON of `{callId, keyId, tool, argumentsSha256, code, units, at}` as the list of calls has ' +
    'them; leaves are in the order of callId (RFC 6962).',
  params: {},
  query: PageQuery,
  returns: z.object({
    digests: z.array(
      z.object({
        id: z.uuid(),
        eventType: z.string(),
        timestamp: z.string(),
        date: z.iso.date(),
        organisationId: z.uuid(),
        calls: z.int(),
        root: z.string(),
        anchor: AnchorSchema,
      }),
    ),
    nextCursor: z.string().nullable(),
  }),
  async handle({ caller, query, deps }) {
    const limit = query.limit ?? DEFAULT_PAGE
    const before = decodeCursor(query.cursor, z.tuple([z.iso.date()]))?.[0] ?? null
    const rows = await listDigests(deps.db, caller, { before, limit: limit + 1 })
    const { page, nextCursor } = paged(rows, limit, ({ date }) => encodeCursor([date]))
    return { digests: page.map(({ record }) => record), nextCursor }
  },
})

export const agentRoutes: readonly Route[] = [createKey, listKeys, readKey, deleteKey, listCalls, listDays]
