import { LRUCache } from 'lru-cache'
import { financingSnapshotDue } from '#shared/contracts/worker-messages.ts'
import type { ApiEnv } from '#shared/environment.ts'
import { type FieldError, ValidationError } from '#shared/errors.ts'
import { on, subscribe } from '#shared/platform/broker/worker.ts'
import { transaction } from '#shared/platform/database/db.ts'
import type { DomainKey } from '#shared/risk/domain-keys/domain-key.ts'
import { type FinancingKeys, liveEpochs } from '#shared/risk/first-financing/fingerprint.ts'
import { searchTerms } from '#shared/risk/first-financing/fingerprints-of-request.ts'
import { ensureFinancingKeys } from '#shared/risk/first-financing/keys-store.ts'
import { isBlind } from '#shared/risk/first-financing/request-fingerprints.ts'
import type { AbsenceRequest, EvaluationRequest } from '#shared/risk/first-financing/requests.ts'
import type { SnapshotTree } from '#shared/risk/first-financing/snapshot-tree.ts'
import { proveAbsence } from '#shared/risk/operations/prove-absence.ts'
import { replaceFieldCommitments, snapshotRegistrations } from '#shared/risk/operations/registration-epochs.ts'
import type { WorkerDeps } from '../define-worker.ts'
import { endJob, type JobResult, type OpenJob, ownerOf } from '../jobs/job-worker.ts'

/** Proofs use the newest snapshot of each environment. */
const CACHED_TREES = 4

export function blindHandlers(deps: WorkerDeps, keysOf: (env: ApiEnv) => Promise<FinancingKeys>) {
  const trees = new LRUCache<string, SnapshotTree>({ max: CACHED_TREES })
  return {
    async 'financing.key'(job: OpenJob) {
      await keysOf(job.env)
      await endJob(deps, job, async () => ({ status: 200, body: {}, forget: true }))
    },
    async 'financing.evaluation'(job: OpenJob) {
      const request = job.request as EvaluationRequest
      const named = ({ epoch }: DomainKey) => epoch === request.epoch
      // The cached keys may not contain an epoch that has just begun.
      const key =
        liveEpochs(await keysOf(job.env)).find(named) ??
        liveEpochs(await ensureFinancingKeys(deps.db, deps.secrets, job.env)).find(named)
      const result = await evaluationOf(job.id, key, request)
      await endJob(deps, job, async () => result)
    },
    async 'financing.absence'(job: OpenJob) {
      const { receivable, snapshotId } = job.request as AbsenceRequest
      const fingerprints = searchTerms(await keysOf(job.env), receivable, false)
      await endJob(deps, job, async (tx) => {
        const made = await proveAbsence(
          tx,
          ownerOf(job),
          job.id,
          { fingerprints, snapshotId, isBlind: isBlind(receivable) },
          { now: deps.now, trees },
        )
        return 'refusal' in made ? made : { status: 200, body: made.proof }
      })
    },
  }
}

/** The sweeper requests the hourly snapshots. */
export function subscribeSnapshots(worker: string, deps: WorkerDeps): AsyncDisposable {
  const takeSnapshot = async ({ env, epoch }: { env: ApiEnv; epoch: number }) => {
    const keys = await ensureFinancingKeys(deps.db, deps.secrets, env)
    const { secrets } = deps
    let after: string | null = null
    do after = await transaction(deps.db, (tx) => replaceFieldCommitments(tx, env, epoch, after, { keys, secrets }))
    while (after !== null)
    await transaction(deps.db, (tx) => snapshotRegistrations(tx, env, epoch, deps))
  }
  return subscribe(worker, on(financingSnapshotDue, 1, takeSnapshot), deps)
}

/** Evaluates blinded elements, or returns the invalid ones. */
async function evaluationOf(
  evaluationId: string,
  key: DomainKey | undefined,
  { epoch, blinded }: EvaluationRequest,
): Promise<JobResult> {
  if (!key?.publicKey) return invalid([{ path: 'epoch', code: 'EPOCHS', message: `epoch ${epoch} is not live` }])
  // Loaded by the first evaluation.
  const { evaluateBlinded, invalidElements } = await import('#shared/risk/first-financing/blind-evaluation.ts')
  const wrong = invalidElements(blinded)
  if (wrong.length > 0) {
    const message = 'must be a canonical encoding of a ristretto255 element other than the identity'
    return invalid(wrong.map((index) => ({ path: `blinded[${index}]`, code: 'POINT_INVALID', message })))
  }
  const keyPair = { privateKey: key.key, publicKey: key.publicKey }
  return { status: 200, body: { evaluationId, epoch, ...evaluateBlinded(keyPair, blinded) } }
}

function invalid(errors: readonly FieldError[]): JobResult {
  return { refusal: new ValidationError(errors[0]?.message ?? '', errors) }
}
