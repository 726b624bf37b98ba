import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { poolChanged } from '../../contracts/worker-messages.ts'
import { ConflictError, validationError } from '../../errors.ts'
import type { Owner } from '../../jobs/job.ts'
import { insertJob } from '../../jobs/store.ts'
import { receivableName } from '../first-financing/fingerprint-input.ts'
import { MAX_POOL, type PoolItem } from '../pools/requests.ts'
import { addMembers, insertPool, type Pool, takenDocuments, takenReferences } from '../pools/store.ts'
import type { OperationDeps } from './deps.ts'
import { requirePool } from './pool-requests.ts'

type PoolDeps = Pick<OperationDeps, 'enqueue' | 'secrets'>

/** @throws as `addToPool` */
export async function createPool(
  tx: Knex,
  owner: Owner,
  pool: { name: string; dealId?: string | undefined; receivables: readonly PoolItem[] },
  deps: PoolDeps,
): Promise<Pool> {
  const id = randomUUID()
  await insertPool(tx, owner, { id, name: pool.name, dealId: pool.dealId ?? null })
  return await addToPool(tx, owner, id, pool.receivables, deps)
}

/**
 * A worker creates the evidence objects.
 * @throws NotFoundError; ValidationError above 50,000; ConflictError for a reference or a document that the pool already
 * has
 */
export async function addToPool(
  tx: Knex,
  owner: Owner,
  poolId: string,
  items: readonly PoolItem[],
  deps: PoolDeps,
): Promise<Pool> {
  const pool = await requirePool(tx, owner, poolId, true)
  await add(tx, pool, items, deps)
  await build(tx, owner, pool.id, deps)
  return await requirePool(tx, owner, pool.id)
}

async function add(tx: Knex, pool: Pool, items: readonly PoolItem[], { secrets }: PoolDeps): Promise<void> {
  if (pool.size + items.length > MAX_POOL) {
    throw validationError([{ path: 'receivables', code: 'TOO_MANY', message: `a pool has at most ${MAX_POOL}` }])
  }
  if (items.length === 0) return
  const members = items.map((item) => ({
    reference: item.receivableId,
    sealedItem: secrets.seal('pool', JSON.stringify(item)),
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

async function build(tx: Knex, { organisationId, env }: Owner, poolId: string, deps: PoolDeps): Promise<void> {
  const id = randomUUID()
  const sealedRequest = deps.secrets.seal('evidence-request', JSON.stringify({ poolId }))
  const job = { id, organisationId, env, kind: 'pool.members' as const, idempotencyKey: null, sealedRequest }
  await insertJob(tx, { ...job, jobKey: null })
  await deps.enqueue(poolChanged, { jobId: id })
}
