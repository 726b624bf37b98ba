import type { Request, Response } from 'express'
import type { Knex } from 'knex'
import { z } from 'zod'
import type { Enqueue } from '#shared/platform/broker/outbox.ts'
import { requestFingerprint } from '#shared/tenancy/idempotency/fingerprint.ts'
import type { Scope } from '#shared/tenancy/oauth/families.ts'
import type { IngressDeps } from '../deps.ts'
import { queryOf } from '../middleware/form-text.ts'
import { requestIdOf } from '../middleware/request-id.ts'
import { defineRoute, type ParamNames, type PathParam, type ResponseDocument, type Route } from '../route.ts'
import { type Answer, jsonAnswer, sendAnswer } from './answer.ts'
import { authenticate, type Caller, limitCaller, requireScope } from './authenticate.ts'
import { problemResponses } from './documents.ts'
import { answerOnce, keyScope, readIdempotencyKey } from './idempotency.ts'
import { parseWith, readJson } from './json-body.ts'

/** What a handler learns of the request; parsed, authenticated, permitted. */
export interface Call<P extends string, Query, Body> {
  caller: Caller
  params: Record<ParamNames<P>, string>
  query: Query
  body: Body
  requestId: string
}

interface Described<P extends string> {
  path: P
  operationId: string
  summary: string
  description?: string
  tags: readonly string[]
  scope: Scope
  params: Readonly<Record<ParamNames<P>, PathParam>>
  /** further documented answers, beside the success and the errors every operation has */
  responses?: Readonly<Record<number, ResponseDocument>>
}

/** A GET under `/v1`: no effect, and nothing is metered. */
export function defineRead<const P extends string, Query = Record<string, never>>(
  spec: Described<P> & {
    query?: z.ZodObject & z.ZodType<Query>
    returns: z.ZodType
    handle(call: Call<P, Query, undefined>, deps: IngressDeps): Promise<unknown>
  },
): Route {
  return defineRoute<P>({
    ...documentOf(spec),
    method: 'get',
    ...(spec.query ? { query: spec.query } : {}),
    responses: {
      200: { description: 'As asked for', content: { 'application/json': spec.returns } },
      ...problemResponses(400, 401, 403, 404, 429, 503),
      ...spec.responses,
    },
    async handle(request, response, deps) {
      const caller = await admit(request, response, deps, spec.scope)
      const query = spec.query ? parseWith(spec.query, queryRecord(request), 'the query') : ({} as Query)
      const call = { caller, params: request.params, query, body: undefined, requestId: requestIdOf(response) }
      sendAnswer(response, jsonAnswer(200, await spec.handle(call, deps)))
    },
  })
}

/**
 * A mutating POST under `/v1` (domain 2.9 and 5.2): authentication, scope, idempotency key, body, in this order; then
 * `handle` runs in the transaction in which its answer is stored under the key.
 */
export function defineWrite<const P extends string, Body>(
  spec: Described<P> & {
    body: z.ZodType<Body>
    returns: z.ZodType
    /** of the success; 200 unless said */
    status?: number
    retentionDays?: number
    handle(call: Call<P, undefined, Body>, tx: Knex.Transaction, enqueue: Enqueue, deps: IngressDeps): Promise<Answer>
  },
): Route {
  return defineRoute<P>({
    ...documentOf(spec),
    method: 'post',
    headers: IdempotencyHeaders,
    body: { required: true, content: { 'application/json': spec.body } },
    responses: {
      [spec.status ?? 200]: { description: 'Done', content: { 'application/json': spec.returns } },
      ...problemResponses(400, 401, 403, 404, 409, 413, 415, 422, 429, 503),
      ...spec.responses,
    },
    async handle(request, response, deps) {
      const caller = await admit(request, response, deps, spec.scope)
      const key = readIdempotencyKey(request)
      const json = await readJson(request)
      const body = parseWith(spec.body, json)
      const params = request.params
      const fingerprint = requestFingerprint({ method: 'POST', route: spec.path, params, body: json })
      const once = { scope: keyScope(caller, key), fingerprint, retentionDays: spec.retentionDays ?? 1 }
      const call = { caller, params, query: undefined, body, requestId: requestIdOf(response) }
      sendAnswer(response, await answerOnce(deps, once, (tx, enqueue) => spec.handle(call, tx, enqueue, deps)))
    },
  })
}

/** The header of every mutating POST. */
export const IdempotencyHeaders = z.object({
  'x-idempotency-key': z
    .string()
    .meta({ description: 'Names this request: sent again with the same key and body it has the same answer.' }),
})

/** Who calls, if it may: 401, then 403, then 429. */
export async function admit(request: Request, response: Response, deps: IngressDeps, scope: Scope): Promise<Caller> {
  const caller = await authenticate(request, response, deps)
  requireScope(caller, scope, response)
  limitCaller(caller, scope, response, deps)
  return caller
}

/** The query as an object; a name given twice becomes a list, which no schema of ours takes. */
export function queryRecord(request: Request): Record<string, string | string[]> {
  const values = queryOf(request)
  return Object.fromEntries(
    [...new Set(values.keys())].map((name) => {
      const all = values.getAll(name)
      return [name, all.length === 1 ? (all[0] ?? '') : all]
    }),
  )
}

function documentOf<P extends string>(spec: Described<P>) {
  return {
    path: spec.path,
    operationId: spec.operationId,
    summary: spec.summary,
    ...(spec.description === undefined ? {} : { description: spec.description }),
    tags: spec.tags,
    security: ['accessToken'],
    params: spec.params,
  }
}
