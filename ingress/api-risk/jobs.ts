import type { Request } from 'express'
import type { z } from 'zod'
import { type Owner, PendingSchema } from '#shared/jobs/job.ts'
import type { JobContext } from '#shared/jobs/operations/jobs.ts'
import { Answer } from '#shared/tenancy/idempotency/answer.ts'
import type { StoredAnswer } from '#shared/tenancy/idempotency/store.ts'
import type { IngressDeps } from '../deps.ts'
import { problemResponses } from '../problem-responses.ts'
import type { ResponseDocument, Route } from '../route.ts'
import { readPreference } from './path-params.ts'

const pending: ResponseDocument = {
  description: 'In progress: poll Location',
  content: { 'application/json': PendingSchema },
  headers: { Location: 'where to poll', 'Retry-After': 'seconds' },
}

/** @param done schemas of the result, by status */
export function waitingResponses(done: Readonly<Record<number, z.ZodType>>): Route['responses'] {
  const statuses = Object.entries(done).map(([status, schema]) => [
    status,
    { description: status === '201' ? 'Created' : 'OK', content: { 'application/json': schema } },
  ])
  return {
    ...Object.fromEntries(statuses),
    202: pending,
    ...problemResponses(400, 401, 403, 404, 409, 413, 415, 422, 429, 500, 503),
  }
}

export function pollingResponses(schema: z.ZodType): Route['responses'] {
  return {
    200: { description: 'OK', content: { 'application/json': schema } },
    202: pending,
    ...problemResponses(400, 401, 403, 404, 409, 429, 500, 503),
  }
}

/** Runs the job of a GET. The header `Prefer` limits the wait. */
export async function readByJob(
  { caller, deps, request }: { caller: Owner; deps: IngressDeps; request: Pick<Request, 'headers'> },
  run: (context: Omit<JobContext, 'once'>) => Promise<StoredAnswer>,
): Promise<Answer> {
  const { waitMs, applied } = readPreference(request.headers.prefer)
  const { status, body, headers } = await run({ caller, deps, waitMs })
  return new Answer(status, body, { ...headers, ...(applied === null ? {} : { 'Preference-Applied': applied }) })
}
