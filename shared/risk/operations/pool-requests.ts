import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import type { z } from 'zod'
import { poolChanged } from '../../contracts/worker-messages.ts'
import { ConflictError, NotFoundError, validationError } from '../../errors.ts'
import type { Owner } from '../../jobs/job.ts'
import { type BeforeJob, type JobContext, runJob, runSharedJob } from '../../jobs/operations/jobs.ts'
import type { StoredAnswer } from '../../tenancy/idempotency/store.ts'
import { viewAnchor } from '../../transparency/operations/anchors.ts'
import { isUuid } from '../../uuid.ts'
import type { CutBody } from '../pools/requests.ts'
import { earliestDocument, findCut, findPool, newestCut, type Pool, type PoolCut } from '../pools/store.ts'

/** @throws NotFoundError alike for foreign and unknown ones */
export async function requirePool(db: Knex, owner: Owner, id: string, lock = false): Promise<Pool> {
  const pool = isUuid(id) ? await findPool(db, owner, id, lock) : undefined
  if (!pool) throw new NotFoundError('pool not found')
  return pool
}

export const CUTS = '/v1/securitisation/cuts'

/** @throws NotFoundError; ValidationError for a cut before the first document */
export async function runCut(
  context: JobContext,
  id: string,
  body: z.output<typeof CutBody>,
  before?: BeforeJob,
): Promise<StoredAnswer> {
  const { caller, deps } = context
  const { id: poolId } = await requirePool(deps.db, caller, id)
  return await runJob(context, {
    kind: 'pool.cut',
    message: poolChanged,
    folder: CUTS,
    request: { poolId, ...body },
    async before(tx, enqueue) {
      await refuseEarlyCut(tx, poolId, body.cutOffDate)
      await before?.(tx, enqueue)
    },
  })
}

async function refuseEarlyCut(tx: Knex, poolId: string, cutOffDate: string): Promise<void> {
  const earliest = await earliestDocument(tx, poolId)
  if (earliest === null || cutOffDate >= earliest) return
  const message = `cutOffDate must not be before ${earliest}, the earliest documentDate of the pool`
  throw validationError([{ path: 'cutOffDate', code: 'TOO_EARLY', message }])
}

/** By default the newest. @throws NotFoundError; ConflictError for a pool that was never cut */
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

/** The object never changes, so its job runs once. */
export function jobKeyOf(...parts: readonly (string | number)[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parts)).digest()
}

const COMPUTED = { stratification: 'pool.strata', replines: 'pool.replines' } as const

export type CutPart = keyof typeof COMPUTED

/** Runs once per part of a cut. */
export async function runCutJob(
  context: Omit<JobContext, 'once'>,
  part: CutPart,
  { id, poolId }: Pick<PoolCut, 'id' | 'poolId'>,
): Promise<StoredAnswer> {
  return await runSharedJob(context, {
    kind: COMPUTED[part],
    message: poolChanged,
    self: `/v1/securitisation/pools/${poolId}/${part}?cut=${id}`,
    request: { cutId: id },
    jobKey: jobKeyOf(part, id),
  })
}

/** The worker creates the file on the first request. @param self where the API offers the file */
export function cutFileJob(cutId: string, file: string, self: string) {
  const request = { cutId, file }
  return { kind: 'pool.file', message: poolChanged, self, request, jobKey: jobKeyOf('file', cutId, file) } as const
}

/** A BagIt package contains the proof of its cut and must never change, so it needs a log that includes the cut. */
export async function isCutIncluded(db: Knex, { body }: Pick<PoolCut, 'body'>): Promise<boolean> {
  // Anchored by us.
  const { anchor } = JSON.parse(body) as { anchor: { txId: string } }
  return Boolean((await viewAnchor(db, anchor.txId))?.tlogProof)
}
