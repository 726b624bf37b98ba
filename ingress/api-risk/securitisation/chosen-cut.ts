import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import { z } from 'zod'
import { ConflictError, NotFoundError } from '#shared/errors.ts'
import type { Owner } from '#shared/risk/jobs/job.ts'
import { findCut, newestCut, type PoolCut } from '#shared/risk/pools/store.ts'
import { isUuid } from '#shared/uuid.ts'
import { requirePool } from './pools.ts'

export const cutQuery = z
  .string()
  .max(100)
  .optional()
  .meta({ description: 'cutRecordId of a cut of the pool; else its newest' })

/**
 * The cut that is meant: the one named, or the newest of the pool.
 * @throws NotFoundError for a pool or cut that is not there; ConflictError for a pool that was never cut
 */
export async function chosenCut(db: Knex, owner: Owner, poolId: string, cutId: string | undefined): Promise<PoolCut> {
  const pool = await requirePool(db, owner, poolId)
  if (cutId !== undefined) {
    const cut = isUuid(cutId) ? await findCut(db, owner, cutId) : undefined
    if (cut?.poolId !== pool.id) throw new NotFoundError('the pool has no such cut')
    return cut
  }
  const newest = await newestCut(db, pool.id)
  if (newest) return newest
  const message = 'the pool has no cut yet'
  throw new ConflictError(message, [{ path: 'cut', code: 'NO_CUT', message }])
}

/** Names what is asked of something that never changes: it is made once. */
export function jobKeyOf(...parts: readonly (string | number)[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parts)).digest()
}
