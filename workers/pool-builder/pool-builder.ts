import { poolChanged } from '#shared/contracts/worker-messages.ts'
import { NotFoundError } from '#shared/errors.ts'
import { cachedPerEnv } from '#shared/risk/domain-keys/cache.ts'
import { ensureKey } from '#shared/risk/domain-keys/store.ts'
import { ensureFinancingKeys } from '#shared/risk/first-financing/keys-store.ts'
import { buildMembers, cutPool, poolRoot } from '#shared/risk/operations/build-pool.ts'
import { type CutFile, cutFacts, evaluateCut, makeCutFile } from '#shared/risk/operations/read-cut.ts'
import { cutFileLength, insertRun, saveCutFile } from '#shared/risk/pools/cut-files-store.ts'
import type { EligibilityRule } from '#shared/risk/pools/eligibility.ts'
import { findCut, findPool, type PoolCut } from '#shared/risk/pools/store.ts'
import { replines, stratify } from '#shared/risk/pools/strata.ts'
import { toIsoMillis } from '#shared/time.ts'
import type { Worker, WorkerDeps } from '../define-worker.ts'
import { endJob, type JobHandler, type JobResult, type OpenJob, subscribeJobs } from '../jobs/job-worker.ts'

/** One transaction per batch. */
const BATCH = 100

export const poolBuilder: Worker = {
  name: 'pool-builder',
  start(deps) {
    const keysOf = cachedPerEnv(async (env) => ({
      financing: await ensureFinancingKeys(deps.db, deps.secrets, env),
      vei: await ensureKey(deps.db, deps.secrets, env, 'vei'),
    }))
    /** Continues where the last transaction ended, for example after a crash. */
    const build = async ({ organisationId, env }: OpenJob, poolId: string) => {
      const { now, secrets } = deps
      const operationDeps = { now, secrets, keys: await keysOf(env) }
      let isLeft = true
      while (isLeft) {
        isLeft = await deps.outbox.run((tx) => buildMembers(tx, { organisationId, env }, poolId, BATCH, operationDeps))
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

/** A cut never changes, so its results need no lock. */
function cutJobs(deps: WorkerDeps): Record<'strata' | 'replines' | 'file' | 'eligibility', JobHandler> {
  const ofCut = async (job: OpenJob, work: (cut: PoolCut) => Promise<Parameters<typeof endJob>[2]>) => {
    // The ingress validated the request before it sealed it.
    const { cutId } = job.request as { cutId: string }
    const cut = await findCut(deps.db, job, cutId)
    await endJob(deps, job, cut ? await work(cut) : async () => ({ refusal: new NotFoundError('cut not found') }))
  }
  const answered = (body: object) => async (): Promise<JobResult> => ({ status: 200, body })
  return {
    strata: (job) => ofCut(job, async (cut) => answered({ cutId: cut.id, ...stratify(await cutFacts(deps.db, cut)) })),
    replines: (job) =>
      ofCut(job, async (cut) => answered({ cutId: cut.id, replines: replines(await cutFacts(deps.db, cut)) })),
    file: (job) =>
      ofCut(job, async (cut) => {
        const { file } = job.request as { file: CutFile }
        const pool = await findPool(deps.db, job, cut.poolId)
        const known = await cutFileLength(deps.db, cut.id, file)
        const bytes = known === undefined ? await makeCutFile(deps.db, cut, pool?.name ?? '', file) : null
        return async (tx) => {
          if (bytes) await saveCutFile(tx, cut.id, file, bytes)
          return { status: 200, body: { cutId: cut.id, file } }
        }
      }),
    eligibility: (job) =>
      ofCut(job, async (cut) => {
        const { rules } = job.request as { rules: EligibilityRule[] }
        const { results, counts, byRule } = await evaluateCut(deps.db, cut, rules)
        return async (tx) => {
          await insertRun(tx, { id: job.id, cutId: cut.id, rules: rules.map(({ id }) => id), results })
          const { id: cutId, poolId, size } = cut
          const timestamp = toIsoMillis(deps.now())
          return { status: 201, body: { runId: job.id, poolId, cutId, size, rules, counts, byRule, timestamp } }
        }
      }),
  }
}
