import { poolChanged } from '#shared/contracts/evidence-requested.ts'
import { cachedPerEnv } from '#shared/risk/domain-keys/cache.ts'
import { ensureKey } from '#shared/risk/domain-keys/store.ts'
import { ensureFinancingKeys } from '#shared/risk/first-financing/keys-store.ts'
import { buildMembers, cutPool, poolRoot } from '#shared/risk/operations/build-pool.ts'
import type { Worker } from '../define-worker.ts'
import { endJob, type OpenJob, subscribeJobs } from '../jobs/job-worker.ts'
import { cutJobs } from './cut-jobs.ts'

/** Members whose evidence objects are made in one transaction. */
const BATCH = 100

/** Makes the evidence objects of pools, freezes cuts of them, and makes what is asked of a cut. */
export const poolBuilder: Worker = {
  name: 'pool-builder',
  start(deps) {
    const keysOf = cachedPerEnv(async (env) => ({
      financing: await ensureFinancingKeys(deps.db, deps.secrets, env),
      vei: await ensureKey(deps.db, deps.secrets, env, 'vei'),
    }))
    /** A killed worker goes on where the last transaction ended. */
    const build = async ({ organisationId, env }: OpenJob, poolId: string) => {
      const { now, secrets } = deps
      const given = { now, secrets, keys: await keysOf(env) }
      let isLeft = true
      while (isLeft) {
        isLeft = await deps.outbox.run((tx) => buildMembers(tx, { organisationId, env }, poolId, BATCH, given))
      }
    }
    const members = async (job: OpenJob) => {
      const { poolId } = job.request as { poolId: string }
      await build(job, poolId)
      await endJob(deps, job, async () => ({ status: 200, body: { poolId } }))
    }
    const cut = async (job: OpenJob) => {
      const request = job.request as { poolId: string; cutOffDate: string }
      await build(job, request.poolId)
      await endJob(deps, job, async (tx, enqueue) => {
        const owner = { organisationId: job.organisationId, env: job.env }
        const made = await cutPool(tx, owner, job.id, request, { enqueue, now: deps.now })
        return 'refusal' in made ? made : { status: 201, body: made.cut }
      })
    }
    const root = async (job: OpenJob) => {
      const { poolId, size } = job.request as { poolId: string; size: number }
      await build(job, poolId)
      const made = await poolRoot(deps.db, poolId, size)
      await endJob(deps, job, async () => ({ status: 200, body: { poolId, size, root: made } }))
    }
    const { strata, replines, file, eligibility } = cutJobs(deps)
    const handlers = {
      'pool.members': members,
      'pool.cut': cut,
      'pool.root': root,
      'pool.strata': strata,
      'pool.replines': replines,
      'pool.file': file,
      'pool.eligibility': eligibility,
    }
    return [subscribeJobs('pool-builder', poolChanged, handlers, deps)]
  },
}
