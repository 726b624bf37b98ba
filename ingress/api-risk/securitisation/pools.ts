import { z } from 'zod'
import { requirePool } from '#shared/risk/operations/pool-requests.ts'
import { addToPool, createPool } from '#shared/risk/operations/pools.ts'
import { PoolBody, PoolItemsBody } from '#shared/risk/pools/requests.ts'
import { listMembers, listPools, type Pool } from '#shared/risk/pools/store.ts'
import { ReceivableSchema } from '#shared/risk/receivables/evidence-object.ts'
import { paged } from '../../paging.ts'
import type { Route } from '../../route.ts'
import { idParam } from '../path-params.ts'
import { read, write } from '../risk-route.ts'
import { consumerKeyAccess } from './consumer-key.ts'

const tags = ['Securitisation evidence'] as const
export const poolParam = { poolId: idParam('poolId of the pool') }
const MAX_LIST_LENGTH = 200
const PAGE = 500

/** A position in pool order, at which a page begins. */
export const PositionQuery = z.object({
  cursor: z
    .string()
    .regex(/^[0-9]{1,6}$/, 'must be a nextCursor of this list')
    .optional(),
})

const PoolSchema = z
  .object({
    poolId: z.uuid(),
    name: z.string(),
    dealId: z.string().nullable(),
    currency: z.string(),
    state: z.literal('OPEN'),
    size: z.int(),
    built: z.int().meta({ description: 'members with an evidence object' }),
  })
  .meta({ id: 'Pool' })

function viewOf({ id, name, dealId, size, built }: Pool) {
  return { poolId: id, name, dealId, currency: 'INR', state: 'OPEN' as const, size, built }
}

const makePool = write({
  tags,
  access: consumerKeyAccess,
  path: '/v1/securitisation/pools',
  operationId: 'createPool',
  summary: 'Create a pool of receivables',
  description: 'At most 1,000 receivables per request and 50,000 per pool. A worker creates their evidence objects.',
  params: {},
  body: PoolBody,
  returns: PoolSchema,
  status: 201,
  async handle({ caller, body, tx, enqueue, deps }) {
    return viewOf(await createPool(tx, caller, body, { enqueue, secrets: deps.secrets }))
  },
})

const addReceivables = write({
  tags,
  access: consumerKeyAccess,
  path: '/v1/securitisation/pools/{poolId}/receivables',
  operationId: 'addPoolReceivables',
  summary: 'Add receivables to a pool',
  description: 'Earlier cuts keep their members and their root.',
  params: poolParam,
  body: PoolItemsBody,
  returns: PoolSchema,
  status: 201,
  async handle({ caller, params: { poolId }, body, tx, enqueue, deps }) {
    return viewOf(await addToPool(tx, caller, poolId, body.receivables, { enqueue, secrets: deps.secrets }))
  },
})

const readPools = read({
  tags,
  access: consumerKeyAccess,
  path: '/v1/securitisation/pools',
  operationId: 'listPools',
  summary: 'List the newest 200 pools',
  params: {},
  returns: z.object({ pools: z.array(PoolSchema) }),
  handle: async ({ caller, deps }) => ({ pools: (await listPools(deps.db, caller, MAX_LIST_LENGTH)).map(viewOf) }),
})

const readPool = read({
  tags,
  access: consumerKeyAccess,
  path: '/v1/securitisation/pools/{poolId}',
  operationId: 'getPool',
  summary: 'Get a pool',
  params: poolParam,
  returns: PoolSchema,
  handle: async ({ caller, params: { poolId }, deps }) => viewOf(await requirePool(deps.db, caller, poolId)),
})

const readReceivables = read({
  tags,
  access: consumerKeyAccess,
  path: '/v1/securitisation/pools/{poolId}/receivables',
  operationId: 'listPoolReceivables',
  summary: 'List the evidence objects of a pool, in pool order',
  params: poolParam,
  query: PositionQuery,
  returns: z.object({
    receivables: z.array(ReceivableSchema),
    references: z.record(z.string(), z.string()),
    nextCursor: z.string().nullable(),
  }),
  async handle({ caller, params: { poolId }, query: { cursor = '0' }, deps }) {
    const pool = await requirePool(deps.db, caller, poolId)
    const members = await listMembers(deps.db, pool.id, Number(cursor), PAGE + 1)
    const { page, nextCursor } = paged(members, PAGE, ({ place }) => String(place + 1))
    return {
      receivables: page.map(({ body }) => JSON.parse(body)),
      references: Object.fromEntries(page.map(({ receivableId, reference }) => [receivableId, reference])),
      nextCursor,
    }
  },
})

export const poolRoutes: readonly Route[] = [makePool, addReceivables, readPools, readPool, readReceivables]
