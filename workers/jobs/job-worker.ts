import type { Knex } from 'knex'
import type { MessageContract } from '#shared/contracts/define-message.ts'
import { type DomainError, UnavailableError } from '#shared/errors.ts'
import { type EvidenceJob, JobFailedError, type JobKind, type Owner } from '#shared/jobs/job.ts'
import { claimJobs, findJobs, finishJob, refuseJob } from '#shared/jobs/store.ts'
import type { Enqueue } from '#shared/platform/broker/outbox.ts'
import { on, subscribe } from '#shared/platform/broker/worker.ts'
import { isRetryable } from '#shared/platform/database/db.ts'
import { preparedRead } from '#shared/platform/database/prepared.ts'
import { batched } from '#shared/platform/process/batch.ts'
import { describeError } from '#shared/platform/process/log.ts'
import type { RegistryContext } from '#shared/risk/registries/connector.ts'
import type { RegistrySet } from '#shared/risk/registries/registry-set.ts'
import type { BusinessQuery } from '#shared/risk/registries/sandbox/answers.ts'
import { createSandboxRegistries, SANDBOX_SEED } from '#shared/risk/registries/sandbox/registries.ts'
import { type Millis, toMillis } from '#shared/time.ts'
import type { WorkerDeps } from '../define-worker.ts'
import { openProductionRegistries, registryTools } from '../registries.ts'

/** High, because a job mostly waits for registries. */
const PREFETCH = 64

export type JobResult = { status: number; body: object; forget?: boolean } | { refusal: DomainError }

export interface OpenJob extends EvidenceJob {
  /** decrypted; validated by the ingress */
  request: unknown
}

/** May run several times for one job, so it must write only in `endJob`, which has an effect once per job. */
export type JobHandler = (job: OpenJob) => Promise<void>

export type JobMessage = MessageContract<{ jobId: string; replyTo?: string | undefined }>

/** Runs the handler of each job message. Then it sends an empty message to `replyTo`, where a request waits for the job. */
export function subscribeJobs(
  worker: string,
  message: JobMessage,
  handlers: Partial<Record<JobKind, JobHandler>>,
  deps: WorkerDeps,
): AsyncDisposable {
  const findJob = batched(
    async (ids: readonly string[]) => {
      const found = await preparedRead(deps.db, (tx) => findJobs(tx, ids))
      const jobs = new Map(found.map((job) => [job.id, job]))
      return ids.map((id) => jobs.get(id) ?? null)
    },
    { largest: PREFETCH },
  )

  async function handle({ jobId, replyTo }: { jobId: string; replyTo?: string | undefined }): Promise<void> {
    const job = await findJob(jobId)
    if (job?.state === 'QUEUED' && job.sealedRequest !== null) {
      const handler = handlers[job.kind]
      if (!handler) throw new Error(`${worker} has no handler for ${job.kind}`)
      try {
        await handler({ ...job, request: JSON.parse(deps.secrets.open('evidence-request', job.sealedRequest)) })
      } catch (error) {
        // A temporary error, for example a lost connection: the message is delivered again.
        if (error instanceof UnavailableError || isRetryable(error)) throw error
        deps.log.error({ jobId, kind: job.kind, ...describeError(error) }, 'job.failed')
        await endJob(deps, job, async () => ({ refusal: new JobFailedError() }))
      }
    }
    if (replyTo !== undefined) {
      deps.broker.send({ exchange: '', routingKey: replyTo, body: EMPTY, correlationId: jobId })
    }
  }

  return subscribe(worker, on(message, PREFETCH, handle), deps)
}

/**
 * Ends a job with the result of `work` in one transaction; does nothing if it has ended. `writes` is the same
 * transaction, for statements whose result is not needed.
 */
export async function endJob(
  deps: Pick<WorkerDeps, 'outbox' | 'crashPoint'>,
  job: EvidenceJob,
  work: (tx: Knex.Transaction, enqueue: Enqueue, writes: Knex.Transaction) => Promise<JobResult>,
): Promise<void> {
  await deps.outbox.runPrepared(async ({ tx, writes }, enqueue) => {
    if (!(await claimJobs(tx, [job.id])).has(job.id)) return
    const result = await work(tx, enqueue, writes)
    if ('refusal' in result) await refuseJob(writes, job, result.refusal)
    else await finishJob(writes, job, { ...result, body: JSON.stringify(result.body) })
    deps.crashPoint('job-half-stored')
  })
  deps.crashPoint('job-stored')
}

const EMPTY = Buffer.alloc(0)

export function ownerOf({ organisationId, env }: OpenJob): Owner {
  return { organisationId, env }
}

/** Time for the registries of a job; values that arrive later are MISSING with the reason TIMEOUT. */
const BUDGET_MS: Millis = 20_000
const DEMO_CONSENT = 'demo-consent'

/** Holds the connections to the production registries; disposed with the worker. */
export interface RegistryAccess extends AsyncDisposable {
  /** in the sandbox, all registries return data about `business`, so that they do not contradict each other */
  of(job: OpenJob, business?: BusinessQuery): RegistrySet
  context(job: OpenJob, handle?: string): RegistryContext
}

export function openRegistryAccess(deps: WorkerDeps): RegistryAccess {
  const tools = registryTools(() => toMillis(deps.now()))
  const production = openProductionRegistries(deps.config, tools)
  const stop = new AbortController()
  return {
    of: ({ env }, business) =>
      env === 'SANDBOX' ? createSandboxRegistries({ seed: SANDBOX_SEED, business }, tools) : production.registries,
    context({ env, organisationUuid, id }, handle) {
      const consentHandle = handle ?? (env === 'SANDBOX' ? DEMO_CONSENT : undefined)
      const context = {
        env,
        orgId: organisationUuid,
        requestId: id,
        signal: stop.signal,
        deadline: toMillis(deps.now()) + BUDGET_MS,
      }
      const consent = { id: null, purposeCode: null, expiresAt: null }
      return consentHandle === undefined ? context : { ...context, consent: { handle: consentHandle, ...consent } }
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await production[Symbol.asyncDispose]()
    },
  }
}
