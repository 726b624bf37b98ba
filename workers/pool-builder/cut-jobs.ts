import { NotFoundError } from '#shared/errors.ts'
import { type CutFile, cutFacts, evaluateCut, makeCutFile } from '#shared/risk/operations/read-cut.ts'
import { cutFileLength, insertRun, saveCutFile } from '#shared/risk/pools/cut-files-store.ts'
import type { EligibilityRule } from '#shared/risk/pools/eligibility.ts'
import { findCut, findPool, type PoolCut } from '#shared/risk/pools/store.ts'
import { replines, stratify } from '#shared/risk/pools/strata.ts'
import { toIsoMillis } from '#shared/time.ts'
import type { WorkerDeps } from '../define-worker.ts'
import { endJob, type JobHandler, type JobResult, type OpenJob } from '../jobs/job-worker.ts'

/** What is made of a cut: it never changes, so none of this needs a lock. */
export function cutJobs(deps: WorkerDeps): Record<'strata' | 'replines' | 'file' | 'eligibility', JobHandler> {
  const ofCut = async (job: OpenJob, work: (cut: PoolCut) => Promise<Parameters<typeof endJob>[2]>) => {
    // Validated before it was sealed.
    const { cutId } = job.request as { cutId: string }
    const cut = await findCut(deps.db, job, cutId)
    await endJob(
      deps,
      job,
      cut ? await work(cut) : async () => ({ refusal: new NotFoundError('there is no such cut') }),
    )
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
