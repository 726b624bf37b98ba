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
import { type Access, defineOperation, type ParamNames, type PathParam, type ResponseDocument, type Route } from '../route.ts'
import { sendAnswer } from './answer.ts'
import { readIdempotencyKey } from './idempotency.ts'
import { checkParams, hasFaults, readPreference } from './path-params.ts'

/** Errors of a read, and of a write. */
const READ_ERRORS = [400, 401, 403, 404, 429, 503]
const WRITE_ERRORS = [...READ_ERRORS, 409, 413, 415, 422]

const SUCCESSES: Readonly<Record<number, string>> = { 201: 'Created', 202: 'Accepted', 204: 'No content' }

interface Described<P extends string, Admitted> {
  path: P
  operationId: string
  summary: string
  description?: string
  tags: readonly string[]
  /** who may call; what it finds out of them is part of the context */
  access: Access<Admitted>
  params: Readonly<Record<ParamNames<P>, PathParam>>
}

/** What a read knows, beside what its access found out. */
interface ReadContext<P extends string, Query> {
  params: Record<ParamNames<P>, string>
  query: Query
  deps: IngressDeps
  /** for what the shape does not parse */
  request: Request
}

type Read<P extends string, Admitted, Query> = Described<P, Admitted> & {
  /** a GET, unless what is asked for needs a body */
  method?: 'post'
  body?: NonNullable<Route['body']>
  query?: z.ZodObject & z.ZodType<Query>
  handle(context: ReadContext<P, Query> & Admitted): Promise<object>
  /** what 200 answers with; or every documented answer */
} & ({ returns: z.ZodType; responses?: never } | { returns?: never; responses: Route['responses'] })

/**
 * An operation under `/v1` without effect; nothing is metered. Access first, then the query; what `handle` returns is
 * the JSON of a 200, unless it is an `Answer`.
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
        sendAnswer(response, result instanceof Answer ? result : jsonAnswer(200, result))
      },
    },
    problemDocuments,
  )
}

/** What a write knows before its effect. */
interface WriteContext<P extends string, Body, By extends Owner> {
  caller: By
  params: Record<ParamNames<P>, string>
  body: Body
  deps: IngressDeps
  request: Request
  /** of the answer, whatever it will be */
  setHeader(name: string, value: string): void
}

/** What the effect of a write knows: its messages are sent when its transaction has committed. */
type EffectContext<P extends string, Body, By extends Owner> = WriteContext<P, Body, By> & {
  tx: Knex.Transaction
  enqueue: Enqueue
}

interface WriteDescribed<P extends string, Body, By extends Owner> extends Described<P, { caller: By }> {
  body: z.ZodType<Body>
  /** in place of the schema, for rules that depend on the caller */
  parse?(json: JsonValue, caller: NoInfer<By>): Body
  /** no body means `{}` */
  isBodyOptional?: boolean
}

interface Effect<P extends string, Body, By extends Owner> extends WriteDescribed<P, Body, By> {
  /** a POST is done once per idempotency key; repeating the others changes nothing more, so they need none */
  method?: 'post' | 'patch' | 'delete'
  /** null when the answer has no body: 204 */
  returns: z.ZodType | null
  /** of the success; 200 unless said */
  status?: number
  /** how long a repetition gets the first answer; 1 unless the thing lives longer */
  retentionDays?: number
  /** the answer holds a secret, so the copy kept for repetitions is encrypted */
  seal?: boolean
  /** names what in the answer is erased with something else: the copy kept for repetitions goes with it */
  erasureDigest?(result: object): Buffer
  /**
   * What takes long and may refuse the request, before the transaction. The refusal is thrown inside it, so that a
   * repetition still gets the first answer.
   */
  examine?(context: WriteContext<P, Body, By>): Promise<DomainError | null>
  /** runs in the transaction in which its answer is stored under the key */
  handle(context: EffectContext<P, Body, By>): Promise<object | null>
}

interface LongContext<P extends string, Body, By extends Owner> extends WriteContext<P, Body, By> {
  once: IdempotentRequest
  /** how long the caller waits, by its header `Prefer` */
  waitMs: number
}

/** A POST that takes longer than a transaction may, and keeps the idempotency key itself. */
interface LongEffect<P extends string, Body, By extends Owner> extends WriteDescribed<P, Body, By> {
  responses: Route['responses']
  perform(context: LongContext<P, Body, By>): Promise<StoredAnswer>
}

type Write<P extends string, Body, By extends Owner> = Effect<P, Body, By> | LongEffect<P, Body, By>

/**
 * An operation under `/v1` with an effect (docs/spec/risk-signals.md#order-of-checks): access, idempotency key, body, in this order; then the
 * effect, in one transaction with its messages and its answer.
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
        sendAnswer(response, await performed(spec, context, once))
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
    if (once === null) throw new Error(`${spec.path} is a POST, and has a key`)
    const { waitMs, applied } = readPreference(context.request.headers.prefer)
    if (applied !== null) context.setHeader('Preference-Applied', applied)
    return await spec.perform({ ...context, once, waitMs })
  }
  return once === null ? await change(spec, context) : await act(spec, context, once)
}

/** The effect, once per key. */
async function act<P extends string, Body, By extends Owner>(
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

/** The effect as often as it is asked for: it changes nothing more. */
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
