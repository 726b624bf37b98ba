import type { Request } from 'express'
import type { Knex } from 'knex'
import { z } from 'zod'
import type { JsonValue } from '#shared/canonical/parse-json.ts'
import type { DomainError } from '#shared/errors.ts'
import type { Owner } from '#shared/jobs/job.ts'
import { parseWith } from '#shared/parse-with.ts'
import type { Enqueue } from '#shared/platform/broker/outbox.ts'
import { Answer, jsonAnswer } from '#shared/tenancy/idempotency/answer.ts'
import { type IdempotentRequest, requestFingerprint, type StoredAnswer } from '#shared/tenancy/idempotency/store.ts'
import { answerOnce, keyScope } from '#shared/tenancy/operations/idempotency.ts'
import type { IngressDeps } from '../deps.ts'
import type { Caller } from '../middleware/access-token.ts'
import { queryOf } from '../middleware/form-text.ts'
import { readJson, readOptionalJson } from '../middleware/json-body.ts'
import { problemDocuments } from '../problem-responses.ts'
import {
  type Access,
  defineOperation,
  type ParamNames,
  type PathParam,
  type ResponseDocument,
  type Route,
} from '../route.ts'
import { sendAnswer } from './answer.ts'
import { readIdempotencyKey } from './idempotency.ts'
import { checkParams, hasFaults, readPreference } from './path-params.ts'

const READ_ERRORS = [400, 401, 403, 404, 429, 503]
const WRITE_ERRORS = [...READ_ERRORS, 409, 413, 415, 422]

const SUCCESSES: Readonly<Record<number, string>> = { 201: 'Created', 202: 'Accepted', 204: 'No content' }

interface Described<P extends string, Admitted> {
  path: P
  operationId: string
  summary: string
  description?: string
  tags: readonly string[]
  /** authenticates the caller; its result is part of the context */
  access: Access<Admitted>
  params: Readonly<Record<ParamNames<P>, PathParam>>
}

/** Context of a read, besides the result of its access. */
interface ReadContext<P extends string, Query> {
  params: Record<ParamNames<P>, string>
  query: Query
  deps: IngressDeps
  /** for parts that the route does not parse */
  request: Request
}

type Read<P extends string, Admitted, Query> = Described<P, Admitted> & {
  /** GET by default; POST if the read needs a body */
  method?: 'post'
  body?: NonNullable<Route['body']>
  query?: z.ZodObject & z.ZodType<Query>
  handle(context: ReadContext<P, Query> & Admitted): Promise<object>
  /** the schema of a 200; otherwise `responses` contains all documented answers */
} & ({ returns: z.ZodType; responses?: never } | { returns?: never; responses: Route['responses'] })

/**
 * Declares an operation under `/v1` without effect; nothing is metered. It checks the access, then the query. The
 * result of `handle` is the JSON of a 200, unless it is an `Answer`.
 */
export function read<const P extends string, Admitted extends object, Query = Record<string, never>>(
  spec: Read<P, Admitted, Query>,
): Route {
  const { method = 'get', access, query, returns, responses, handle, ...described } = spec
  return defineOperation<P, Admitted>(
    {
      ...described,
      method,
      access,
      ...(query ? { query } : {}),
      errors: returns ? READ_ERRORS : hasFaults(spec.params) ? [400] : [],
      responses: responses ?? { 200: success(200, returns ?? null) },
      async answer(admitted, request, response, deps) {
        checkParams(spec.params, request.params)
        const parsed = query ? parseWith(query, queryRecord(request), 'the query') : ({} as Query)
        const result = await handle({ ...admitted, params: request.params, query: parsed, deps, request })
        sendAnswer(response, result instanceof Answer ? result : jsonAnswer(200, result), deps)
      },
    },
    problemDocuments,
  )
}

/** Context of a write before its effect. */
interface WriteContext<P extends string, Body, By extends Owner> {
  caller: By
  params: Record<ParamNames<P>, string>
  body: Body
  deps: IngressDeps
  request: Request
  /** sets a header of the answer */
  setHeader(name: string, value: string): void
}

/** Context of the effect of a write. Its messages are sent after the commit of its transaction. */
type EffectContext<P extends string, Body, By extends Owner> = WriteContext<P, Body, By> & {
  tx: Knex.Transaction
  enqueue: Enqueue
}

interface WriteDescribed<P extends string, Body, By extends Owner> extends Described<P, { caller: By }> {
  body: z.ZodType<Body>
  /** replaces the schema, for rules that depend on the caller */
  parse?(json: JsonValue, caller: NoInfer<By>): Body
  /** no body means `{}` */
  isBodyOptional?: boolean
}

interface Effect<P extends string, Body, By extends Owner> extends WriteDescribed<P, Body, By> {
  /** a POST runs once per idempotency key; the others are idempotent and need none */
  method?: 'post' | 'patch' | 'delete'
  /** null if the answer has no body: 204 */
  returns: z.ZodType | null
  /** status of the success; 200 by default */
  status?: number
  /** days for which a repetition gets the first answer; 1 by default */
  retentionDays?: number
  /** the answer contains a secret, so the copy that is stored for repetitions is encrypted */
  seal?: boolean
  /** names the object whose erasure also deletes the copy that is stored for repetitions */
  erasureDigest?(result: object): Buffer
  /**
   * Runs slow checks before the transaction. The refusal is thrown in the transaction, so that a
   * repetition still gets the first answer.
   */
  examine?(context: WriteContext<P, Body, By>): Promise<DomainError | null>
  /** runs in the transaction that stores its answer under the key */
  handle(context: EffectContext<P, Body, By>): Promise<object | null>
}

interface LongContext<P extends string, Body, By extends Owner> extends WriteContext<P, Body, By> {
  once: IdempotentRequest
  /** maximum wait of the caller, from its header `Prefer` */
  waitMs: number
}

/** A POST that takes longer than a transaction may, and keeps the idempotency key itself. */
interface LongEffect<P extends string, Body, By extends Owner> extends WriteDescribed<P, Body, By> {
  responses: Route['responses']
  perform(context: LongContext<P, Body, By>): Promise<StoredAnswer>
}

type Write<P extends string, Body, By extends Owner> = Effect<P, Body, By> | LongEffect<P, Body, By>

/**
 * Declares an operation under `/v1` with an effect (docs/spec/risk-signals.md#order-of-checks). It checks access,
 * idempotency key and body, in this order. The effect runs in one transaction with its messages and its answer.
 */
export function write<const P extends string, Body, By extends Owner = Caller>(spec: Write<P, Body, By>): Route {
  const { path, operationId, summary, tags, params, access, body: schema, isBodyOptional = false } = spec
  const method = 'perform' in spec ? 'post' : (spec.method ?? 'post')
  return defineOperation<P, { caller: By }>(
    {
      path,
      operationId,
      summary,
      ...(spec.description === undefined ? {} : { description: spec.description }),
      tags,
      access,
      params,
      method,
      ...(method === 'post' ? { headers: IdempotencyHeaders } : {}),
      body: { required: !isBodyOptional, content: { 'application/json': schema } },
      errors: 'perform' in spec ? [] : WRITE_ERRORS,
      responses: 'perform' in spec ? spec.responses : successOf(spec),
      async answer({ caller }, request, response, deps) {
        const key = method === 'post' ? readIdempotencyKey(request) : null
        checkParams(params, request.params)
        const json = await (isBodyOptional ? readOptionalJson(request) : readJson(request))
        const body = spec.parse ? spec.parse(json, caller) : parseWith(schema, json)
        const setHeader = (name: string, value: string) => void response.setHeader(name, value)
        const context = { caller, params: request.params, body, deps, request, setHeader }
        const once =
          key === null ? null : { scope: keyScope(caller, key), fingerprint: fingerprintOf(path, request.params, json) }
        sendAnswer(response, await performed(spec, context, once), deps)
      },
    },
    problemDocuments,
  )
}

function fingerprintOf(route: string, params: Readonly<Record<string, string>>, body: JsonValue): Buffer {
  return requestFingerprint({ method: 'POST', route, params, body })
}

async function performed<P extends string, Body, By extends Owner>(
  spec: Write<P, Body, By>,
  context: WriteContext<P, Body, By>,
  once: IdempotentRequest | null,
): Promise<StoredAnswer> {
  if ('perform' in spec) {
    if (once === null) throw new Error(`${spec.path} requires an idempotency key`)
    const { waitMs, applied } = readPreference(context.request.headers.prefer)
    if (applied !== null) context.setHeader('Preference-Applied', applied)
    return await spec.perform({ ...context, once, waitMs })
  }
  return once === null ? await change(spec, context) : await changeOnce(spec, context, once)
}

async function changeOnce<P extends string, Body, By extends Owner>(
  spec: Effect<P, Body, By>,
  context: WriteContext<P, Body, By>,
  once: IdempotentRequest,
): Promise<StoredAnswer> {
  const { deps } = context
  const refusal = (await spec.examine?.(context)) ?? null
  const { retentionDays = 1 } = spec
  const answer = await answerOnce(deps, { ...once, retentionDays }, async (tx, enqueue) => {
    if (refusal) throw refusal
    const result = await spec.handle({ ...context, tx, enqueue })
    const made = answerOf(spec, result)
    const digest = result === null ? undefined : spec.erasureDigest?.(result)
    return {
      ...made,
      ...(spec.seal ? { body: deps.secrets.seal('kept-answer', made.body) } : {}),
      ...(digest === undefined ? {} : { erasureDigest: digest }),
    }
  })
  return spec.seal ? { ...answer, body: deps.secrets.open('kept-answer', answer.body) } : answer
}

async function change<P extends string, Body, By extends Owner>(
  spec: Effect<P, Body, By>,
  context: WriteContext<P, Body, By>,
): Promise<StoredAnswer> {
  const refusal = (await spec.examine?.(context)) ?? null
  if (refusal) throw refusal
  return answerOf(spec, await context.deps.outbox.run((tx, enqueue) => spec.handle({ ...context, tx, enqueue })))
}

function answerOf(spec: { status?: number }, result: object | null): StoredAnswer {
  return result === null ? new Answer(204, '') : jsonAnswer(spec.status ?? 200, result)
}

function successOf({ returns, status = 200 }: { returns: z.ZodType | null; status?: number }): Route['responses'] {
  const done = returns === null ? 204 : status
  return { [done]: success(done, returns) }
}

function success(status: number, returns: z.ZodType | null): ResponseDocument {
  return {
    description: SUCCESSES[status] ?? 'OK',
    ...(returns === null ? {} : { content: { 'application/json': returns } }),
  }
}

/** The header of every mutating POST. */
export const IdempotencyHeaders = z.object({
  'x-idempotency-key': z
    .string()
    .meta({ description: 'Identifies this request: a repetition with the same key and body gets the same answer.' }),
})

/** Returns the query as an object. A repeated name becomes a list, which no schema accepts. */
export function queryRecord(request: Request): Record<string, string | string[]> {
  const values = queryOf(request)
  return Object.fromEntries(
    [...new Set(values.keys())].map((name) => {
      const all = values.getAll(name)
      return [name, all.length === 1 ? (all[0] ?? '') : all]
    }),
  )
}
