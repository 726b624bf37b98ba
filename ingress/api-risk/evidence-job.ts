import { randomUUID } from 'node:crypto'
import type { Request } from 'express'
import type { Knex } from 'knex'
import { z } from 'zod'
import type { MessageContract } from '#shared/contracts/define-message.ts'
import { NotFoundError } from '#shared/errors.ts'
import type { JobKind, JobOutcome, Owner } from '#shared/jobs/job.ts'
import { findOutcome, insertJob } from '#shared/jobs/store.ts'
import type { Enqueue } from '#shared/platform/broker/outbox.ts'
import { preparedRead } from '#shared/platform/database/prepared.ts'
import { Answer, jsonAnswer } from '#shared/tenancy/idempotency/answer.ts'
import {
  findReplay,
  type IdempotentRequest,
  leaseKey,
  type StoredAnswer,
  settleKey,
  storeAnswer,
} from '#shared/tenancy/idempotency/store.ts'
import { isUuid } from '#shared/uuid.ts'
import type { IngressDeps } from '../deps.ts'
import { problemResponses } from '../problem-responses.ts'
import type { ResponseDocument, Route } from '../route.ts'
import { readPreference } from './path-params.ts'

/** The answer while a worker is at it. */
export const PendingSchema = z
  .object({ id: z.uuid(), status: z.literal('QUEUED'), links: z.object({ self: z.string() }) })
  .meta({ id: 'PendingEvidence' })

const pending: ResponseDocument = {
  description: 'A worker is at it: poll Location',
  content: { 'application/json': PendingSchema },
  headers: { Location: 'where to poll', 'Retry-After': 'seconds' },
}

/** How an operation that waits for a worker is documented. @param done what it is answered with, by status */
export function waitingResponses(done: Readonly<Record<number, z.ZodType>>): Route['responses'] {
  const statuses = Object.entries(done).map(([status, schema]) => [
    status,
    { description: 'Done', content: { 'application/json': schema } },
  ])
  return {
    ...Object.fromEntries(statuses),
    202: pending,
    ...problemResponses(400, 401, 403, 404, 409, 413, 415, 422, 429, 500, 503),
  }
}

/** A read of what a worker may still be at. */
export function pollingResponses(schema: z.ZodType): Route['responses'] {
  return {
    200: { description: 'As asked for', content: { 'application/json': schema } },
    202: pending,
    ...problemResponses(400, 401, 403, 404, 409, 429, 500, 503),
  }
}

/** What is asked of a worker. */
export interface Requested {
  kind: JobKind
  message: MessageContract<{ jobId: string; replyTo?: string | undefined }>
  /** folder of the resource: its id is added */
  folder: string
  /** validated; sealed while it waits */
  request: object
  /** runs before the job is stored, in its transaction: for limits */
  before?: ((tx: Knex.Transaction, enqueue: Enqueue) => Promise<void>) | undefined
}

/**
 * The same for a question that a GET asks: equal questions of a day have one job and one answer.
 * @param question 32 bytes that name it
 */
export async function startJobOnce(
  context: Omit<JobContext, 'once'>,
  requested: Omit<Requested, 'folder'> & { question: Buffer; self: string },
): Promise<StoredAnswer> {
  const { deps, caller } = context
  const { waitMs, applied } = readPreference(context.request.headers.prefer)
  if (applied !== null) context.setHeader('Preference-Applied', applied)
  const { replyTo } = deps.replies
  const { organisationId, env } = caller
  const { kind, question } = requested
  const provisional = (id: string) =>
    jsonAnswer(
      202,
      { id, status: 'QUEUED', links: { self: requested.self } },
      { Location: requested.self, 'Retry-After': '1' },
    )
  const id = await deps.outbox.run(async (tx, enqueue) => {
    const wanted = randomUUID()
    const sealedRequest = deps.secrets.seal('evidence-request', JSON.stringify(requested.request))
    const made = await insertJob(tx, {
      id: wanted,
      organisationId,
      env,
      kind,
      idempotencyKey: null,
      sealedRequest,
      question,
    })
    // Who asks the same meanwhile waits for the first one's answer.
    if (made !== wanted) return made
    await requested.before?.(tx, enqueue)
    await enqueue(requested.message, { jobId: wanted, replyTo })
    return made
  })
  const known = await findOutcome(deps.db, caller, kind, id)
  if (known && known.state !== 'QUEUED') return answerOf(known, provisional(id))
  return answerOf(await awaitOutcome(deps, caller, kind, id, waitMs, context.signal), provisional(id))
}

/** The answer of a GET that asks a worker, with what its `Prefer` came to. */
export async function readByAsking(
  { caller, deps, request }: Pick<JobContext, 'caller' | 'deps' | 'request'>,
  ask: (context: Omit<JobContext, 'once'>) => Promise<StoredAnswer>,
): Promise<Answer> {
  const headers: Record<string, string> = {}
  const setHeader = (name: string, value: string) => void Object.assign(headers, { [name]: value })
  const answer = await ask({ caller, deps, request, setHeader })
  return new Answer(answer.status, answer.body, { ...answer.headers, ...headers })
}

/** Who asks, and how long it waits for the answer. */
export interface JobContext {
  caller: Owner
  deps: IngressDeps
  /** `Prefer` says how long to wait */
  request: Pick<Request, 'headers'>
  setHeader(name: string, value: string): void
  once: IdempotentRequest
  /** aborted when nobody waits for the answer any more: what was asked is done all the same */
  signal?: AbortSignal
}

/**
 * Has a worker do something and waits for it, as `Prefer` says. Job, idempotency key and message commit together, so an
 * equal request has the same answer, and hanging up ends nothing.
 * @throws what the worker refused it with
 */
export async function runJob(context: JobContext, requested: Requested): Promise<StoredAnswer> {
  const { deps, caller, once } = context
  const { waitMs, applied } = readPreference(context.request.headers.prefer)
  if (applied !== null) context.setHeader('Preference-Applied', applied)
  const id = randomUUID()
  const provisional = pendingAnswer(requested.folder, id)
  const { replyTo } = deps.replies
  const replay = await deps.outbox.runPrepared(async ({ tx, writes }, enqueue) => {
    const known = await findReplay(tx, once)
    if (known) return known
    await requested.before?.(tx, enqueue)
    const { organisationId, env } = caller
    const sealedRequest = deps.secrets.seal('evidence-request', JSON.stringify(requested.request))
    const { kind } = requested
    await insertJob(writes, {
      id,
      organisationId,
      env,
      kind,
      idempotencyKey: once.scope.key,
      sealedRequest,
      question: null,
    })
    if (waitMs === 0) await storeAnswer(writes, once.scope, once.fingerprint, provisional)
    else await leaseKey(writes, once.scope, once.fingerprint, provisional)
    await enqueue(requested.message, waitMs === 0 ? { jobId: id } : { jobId: id, replyTo })
    return undefined
  })
  if (replay) return replay
  const outcome = await awaitOutcome(deps, caller, requested.kind, id, waitMs, context.signal)
  if (outcome.state !== 'QUEUED') return answerOf(outcome, provisional)
  // At the deadline the 202 becomes the answer, unless the worker was faster: only one of them can be.
  if (waitMs === 0 || (await settleKey(deps.db, once.scope))) return provisional
  return answerOf((await findOutcome(deps.db, caller, requested.kind, id)) ?? outcome, provisional)
}

/** How often we look ourselves, should the worker's reply be lost. */
const POLL_EVERY_MS = 1_000

async function awaitOutcome(
  deps: IngressDeps,
  owner: Owner,
  kind: JobKind,
  id: string,
  waitMs: number,
  signal?: AbortSignal,
): Promise<JobOutcome> {
  const deadline = performance.now() + waitMs
  for (let left = waitMs; left > 0; left = deadline - performance.now()) {
    await deps.replies.wait(id, Math.min(left, POLL_EVERY_MS))
    signal?.throwIfAborted()
    const outcome = await preparedRead(deps.db, (tx) => findOutcome(tx, owner, kind, id))
    if (outcome && outcome.state !== 'QUEUED') return outcome
  }
  return { state: 'QUEUED' }
}

function answerOf(outcome: JobOutcome, provisional: Answer): Answer {
  if (outcome.state === 'REFUSED') throw outcome.refusal
  return outcome.state === 'QUEUED' ? provisional : new Answer(outcome.status, outcome.body)
}

function pendingAnswer(folder: string, id: string): Answer {
  const self = `${folder}/${id}`
  return jsonAnswer(202, { id, status: 'QUEUED', links: { self } }, { Location: self, 'Retry-After': '1' })
}

/**
 * What came of a job: 200 with the bytes that were given first, 202 while a worker is at it.
 * @throws NotFoundError; what the worker refused it with
 */
export async function readOutcome(
  deps: IngressDeps,
  owner: Owner,
  job: { kind: JobKind; folder: string; id: string; what: string },
): Promise<Answer> {
  const outcome = isUuid(job.id) ? await findOutcome(deps.db, owner, job.kind, job.id) : undefined
  if (!outcome) throw new NotFoundError(`there is no such ${job.what}`)
  const answer = answerOf(outcome, pendingAnswer(job.folder, job.id))
  return answer.status === 201 ? new Answer(200, answer.body) : answer
}
