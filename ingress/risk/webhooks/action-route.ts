import type { Request } from 'express'
import type { Knex } from 'knex'
import { z } from 'zod'
import type { JsonValue } from '#shared/canonical/parse-json.ts'
import type { DomainError } from '#shared/errors.ts'
import type { Enqueue } from '#shared/platform/broker/outbox.ts'
import { requestFingerprint } from '#shared/tenancy/idempotency/fingerprint.ts'
import type { Scope } from '#shared/tenancy/oauth/families.ts'
import type { IngressDeps } from '../../deps.ts'
import { readBody } from '../../middleware/body.ts'
import { requestIdOf } from '../../middleware/request-id.ts'
import { defineRoute, type ParamNames, type PathParam, type Route } from '../../route.ts'
import { type Answer, jsonAnswer, sendAnswer } from '../answer.ts'
import { problemResponses } from '../documents.ts'
import { answerOnce, keyScope, readIdempotencyKey } from '../idempotency.ts'
import { JSON_LIMIT, parseJsonBytes, parseWith, readJsonBytes } from '../json-body.ts'
import { admit, type Call, IdempotencyHeaders } from '../risk-route.ts'

/** A change of something that exists. */
interface Change<P extends string, Body> {
  path: P
  operationId: string
  summary: string
  description?: string
  tags: readonly string[]
  scope: Scope
  params: Readonly<Record<ParamNames<P>, PathParam>>
  body: z.ZodType<Body>
  /** null when the answer has no body: 204 */
  returns: z.ZodType | null
  status?: number
  /**
   * What takes long and may refuse the call, before the transaction. The refusal is thrown inside it, so that a
   * repetition still gets the first answer.
   */
  examine?(call: Call<P, undefined, Body>, deps: IngressDeps): Promise<DomainError | null>
  handle(
    call: Call<P, undefined, Body>,
    tx: Knex.Transaction,
    enqueue: Enqueue,
    deps: IngressDeps,
  ): Promise<object | null>
}

/**
 * A POST that acts on something: like `defineWrite`, but its body may be absent, which means `{}`.
 * @param seal the answer holds a secret, so the copy kept for repetitions is encrypted
 */
export function defineAction<const P extends string, Body>(spec: Change<P, Body> & { seal?: boolean }): Route {
  const status = spec.status ?? 200
  return defineRoute<P>({
    ...documentOf(spec),
    method: 'post',
    headers: IdempotencyHeaders,
    async handle(request, response, deps) {
      const caller = await admit(request, response, deps, spec.scope)
      const key = readIdempotencyKey(request)
      const json = await readOptionalJson(request)
      const body = parseWith(spec.body, json)
      const { params } = request
      const fingerprint = requestFingerprint({ method: 'POST', route: spec.path, params, body: json })
      const call = { caller, params, query: undefined, body, requestId: requestIdOf(response) }
      const refusal = (await spec.examine?.(call, deps)) ?? null
      const once = { scope: keyScope(caller, key), fingerprint }
      const answer = await answerOnce(deps, once, async (tx, enqueue) => {
        if (refusal) throw refusal
        const made = jsonAnswer(status, (await spec.handle(call, tx, enqueue, deps)) ?? {})
        return spec.seal ? { ...made, body: deps.secrets.seal(made.body) } : made
      })
      sendAnswer(response, spec.seal ? { ...answer, body: deps.secrets.open(answer.body) } : answer)
    },
  })
}

/** A PATCH or DELETE: repeating it changes nothing more, so it needs no idempotency key. */
export function defineChange<const P extends string, Body>(
  spec: Change<P, Body> & { method: 'patch' | 'delete' },
): Route {
  return defineRoute<P>({
    ...documentOf(spec),
    method: spec.method,
    async handle(request, response, deps) {
      const caller = await admit(request, response, deps, spec.scope)
      const body = parseWith(spec.body, await readOptionalJson(request))
      const call = { caller, params: request.params, query: undefined, body, requestId: requestIdOf(response) }
      const refusal = (await spec.examine?.(call, deps)) ?? null
      if (refusal) throw refusal
      const result = await deps.outbox.run((tx, enqueue) => spec.handle(call, tx, enqueue, deps))
      sendAnswer(response, result === null ? NO_CONTENT : jsonAnswer(spec.status ?? 200, result))
    },
  })
}

const NO_CONTENT: Answer = { status: 204, headers: {}, body: '' }

function documentOf<P extends string, Body>(spec: Change<P, Body>) {
  const { path, operationId, summary, tags, params, body, returns } = spec
  const status = returns === null ? 204 : (spec.status ?? 200)
  return {
    path,
    operationId,
    summary,
    ...(spec.description === undefined ? {} : { description: spec.description }),
    tags,
    security: ['accessToken'],
    params,
    body: { required: false, content: { 'application/json': body } },
    responses: {
      [status]: { description: 'Done', ...(returns === null ? {} : { content: { 'application/json': returns } }) },
      ...problemResponses(400, 401, 403, 404, 409, 413, 415, 422, 429, 503),
    },
  }
}

/** No bytes and no type are an empty object; anything else is JSON as everywhere. */
async function readOptionalJson(request: Request): Promise<JsonValue> {
  const isTyped = request.headers['content-type'] !== undefined
  const bytes = isTyped ? await readJsonBytes(request) : await readBody(request, JSON_LIMIT)
  if (bytes.length === 0) return {}
  return parseJsonBytes(isTyped ? bytes : await readJsonBytes(request))
}

/** The body of an action that takes none. */
export const NoBody = z.strictObject({})
