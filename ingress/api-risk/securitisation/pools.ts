import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { z } from 'zod'
import { poolChanged } from '#shared/contracts/worker-messages.ts'
import { ConflictError, validationError } from '#shared/errors.ts'
import type { Owner } from '#shared/jobs/job.ts'
import { insertJob } from '#shared/jobs/store.ts'
import { receivableName } from '#shared/risk/first-financing/fingerprint-input.ts'
import { requirePool } from '#shared/risk/operations/pool-requests.ts'
import { MAX_POOL, PoolBody, type PoolItem, PoolItemsBody } from '#shared/risk/pools/requests.ts'
import {
  addMembers,
  insertPool,
  listMembers,
  listPools,
  type Pool,
  takenDocuments,
  takenReferences,
} from '#shared/risk/pools/store.ts'
import { ReceivableSchema } from '#shared/risk/receivables/evidence-object.ts'
import type { IngressDeps } from '../../deps.ts'
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
    const id = randomUUID()
    await insertPool(tx, caller, { id, name: body.name, dealId: body.dealId ?? null })
    await add(tx, await requirePool(tx, caller, id, true), body.receivables, deps)
    await build(tx, caller, id, deps, (jobId) => enqueue(poolChanged, { jobId }))
    return viewOf(await requirePool(tx, caller, id))
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
    const pool = await requirePool(tx, caller, poolId, true)
    await add(tx, pool, body.receivables, deps)
    await build(tx, caller, pool.id, deps, (jobId) => enqueue(poolChanged, { jobId }))
    return viewOf(await requirePool(tx, caller, pool.id))
  },
})

/** @throws ValidationError above 50,000; ConflictError for a reference or a document that the pool already has */
async function add(tx: Knex, pool: Pool, items: readonly PoolItem[], deps: IngressDeps): Promise<void> {
  if (pool.size + items.length > MAX_POOL) {
    throw validationError([{ path: 'receivables', code: 'TOO_MANY', message: `a pool has at most ${MAX_POOL}` }])
  }
  if (items.length === 0) return
  const members = items.map((item) => ({
    reference: item.receivableId,
    sealedItem: deps.secrets.seal('pool', JSON.stringify(item)),
    identity: receivableName(item),
    documentDate: item.documentDate,
  }))
  const references = members.map(({ reference }) => reference)
  const named = firstTaken(references, await takenReferences(tx, pool.id, references))
  if (named >= 0) throw taken(named, 'receivableId', 'the pool has a receivable of this reference')
  const identities = members.map(({ identity }) => identity)
  const known = firstTaken(identities, await takenDocuments(tx, pool.id, identities))
  if (known >= 0) throw taken(known, 'documentNumber', 'the pool already contains this document')
  await addMembers(tx, pool.id, members)
}

/** Returns the index of the first value that is taken or repeats an earlier one; -1 if none does. */
function firstTaken(values: readonly string[], taken: readonly string[]): number {
  const seen = new Set(taken)
  return values.findIndex((value) => seen.size === seen.add(value).size)
}

function taken(index: number, member: string, message: string): ConflictError {
  return new ConflictError(message, [{ path: `receivables[${index}].${member}`, code: 'TAKEN', message }])
}

async function build(
  tx: Knex,
  { organisationId, env }: Owner,
  poolId: string,
  deps: IngressDeps,
  enqueue: (jobId: string) => Promise<void>,
): Promise<void> {
  const id = randomUUID()
  const sealedRequest = deps.secrets.seal('evidence-request', JSON.stringify({ poolId }))
  const job = { id, organisationId, env, kind: 'pool.members' as const, idempotencyKey: null, sealedRequest }
  await insertJob(tx, { ...job, question: null })
  await enqueue(id)
}

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
