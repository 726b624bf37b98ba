import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import type { MessageContract } from '../../contracts/define-message.ts'
import { NotFoundError } from '../../errors.ts'
import type { Enqueue, Outbox } from '../../platform/broker/outbox.ts'
import type { Config } from '../../platform/process/config.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { Answer, jsonAnswer } from '../../tenancy/idempotency/answer.ts'
import type { IdempotentRequest, StoredAnswer } from '../../tenancy/idempotency/store.ts'
import type { Micros } from '../../time.ts'
import { isUuid } from '../../uuid.ts'
import type { JobKind, JobOutcome, Owner } from '../job.ts'
import { findOutcome, insertJob } from '../store.ts'
import { awaitWork, type Replies, startWork } from './work.ts'

export interface JobDeps {
  config: Config
  db: Knex
  outbox: Pick<Outbox, 'run' | 'runPrepared'>
  secrets: Secrets
  replies: Replies
  now(): Micros
}

export interface JobContext {
  caller: Owner
  deps: JobDeps
  waitMs: number
  once: IdempotentRequest
  /** aborted when the caller disconnects; the job continues */
  signal?: AbortSignal
}

/** Runs in the transaction of a job before the job is stored: checks limits, writes the audit log. */
export type BeforeJob = (tx: Knex.Transaction, enqueue: Enqueue) => Promise<void>

export interface JobRequest {
  kind: JobKind
  message: MessageContract<{ jobId: string; replyTo?: string | undefined }>
  /** path of the collection in the API, to which the id of the resource is added */
  folder: string
  /** validated; stored encrypted until the job ends */
  request: object
  before?: BeforeJob | undefined
}

/** Returns 202 if the job is not finished in time. Throws the error with which the worker refused the job. */
export async function runJob(context: JobContext, requested: JobRequest): Promise<StoredAnswer> {
  const { deps, caller, once, waitMs, signal } = context
  const { organisationId, env } = caller
  const { kind, folder, before, message } = requested
  const id = randomUUID()
  const provisional = pendingAnswer(id, `${folder}/${id}`)
  const replay = await startWork(deps, { once, provisional, waitMs }, async ({ tx, writes, enqueue, replyTo }) => {
    await before?.(tx, enqueue)
    const sealedRequest = sealRequest(deps, requested)
    const job = { id, organisationId, env, kind, sealedRequest }
    await insertJob(writes, { ...job, idempotencyKey: once.scope.key, jobKey: null })
    await enqueue(message, replyTo === undefined ? { jobId: id } : { jobId: id, replyTo })
  })
  if (replay) return replay
  const outcome = await awaitWork(deps, { id, once, waitMs, signal }, (db) => findFinished(db, caller, kind, id))
  return outcome ? answerOf(outcome, provisional) : provisional
}

/** Equal requests of an organisation share one job and its result. `jobKey` is the SHA-256 by which they are equal. */
export async function runSharedJob(
  context: Omit<JobContext, 'once'>,
  requested: Omit<JobRequest, 'folder'> & { jobKey: Buffer; self: string },
): Promise<StoredAnswer> {
  const { deps, caller, waitMs, signal } = context
  const { organisationId, env } = caller
  const { kind, jobKey, self, before, message } = requested
  const { replyTo } = deps.replies
  const id = await deps.outbox.run(async (tx, enqueue) => {
    const newId = randomUUID()
    const sealedRequest = sealRequest(deps, requested)
    const job = { id: newId, organisationId, env, kind, sealedRequest }
    const storedId = await insertJob(tx, { ...job, idempotencyKey: null, jobKey })
    // The job of an equal request exists: wait for it.
    if (storedId !== newId) return storedId
    await before?.(tx, enqueue)
    await enqueue(message, { jobId: newId, replyTo })
    return newId
  })
  const provisional = pendingAnswer(id, self)
  const find = (db: Knex) => findFinished(db, caller, kind, id)
  const outcome = (await find(deps.db)) ?? (await awaitWork(deps, { id, waitMs, signal }, find))
  return outcome ? answerOf(outcome, provisional) : provisional
}

/** Returns 202 while the job is not finished. Throws NotFoundError, or the worker's refusal. */
export async function readOutcome(
  { db }: { db: Knex },
  owner: Owner,
  { kind, folder, id, what }: { kind: JobKind; folder: string; id: string; what: string },
): Promise<Answer> {
  const outcome = isUuid(id) ? await findOutcome(db, owner, kind, id) : undefined
  if (!outcome) throw new NotFoundError(`${what} not found`)
  const answer = answerOf(outcome, pendingAnswer(id, `${folder}/${id}`))
  return answer.status === 201 ? new Answer(200, answer.body) : answer
}

async function findFinished(db: Knex, owner: Owner, kind: JobKind, id: string): Promise<JobOutcome | undefined> {
  const outcome = await findOutcome(db, owner, kind, id)
  return outcome?.state === 'QUEUED' ? undefined : outcome
}

function answerOf(outcome: JobOutcome, provisional: Answer): Answer {
  if (outcome.state === 'REFUSED') throw outcome.refusal
  return outcome.state === 'QUEUED' ? provisional : new Answer(outcome.status, outcome.body)
}

function pendingAnswer(id: string, self: string): Answer {
  return jsonAnswer(202, { id, status: 'QUEUED', links: { self } }, { Location: self, 'Retry-After': '1' })
}

function sealRequest({ secrets }: JobDeps, { request }: { request: object }): string {
  return secrets.seal('evidence-request', JSON.stringify(request))
}
