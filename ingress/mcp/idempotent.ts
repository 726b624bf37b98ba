import type { Knex } from 'knex'
import type { JsonObject } from '#shared/canonical/parse-json.ts'
import { ValidationError } from '#shared/errors.ts'
import { jsonAnswer } from '#shared/tenancy/idempotency/answer.ts'
import { type IdempotentRequest, isIdempotencyKey, requestFingerprint } from '#shared/tenancy/idempotency/store.ts'
import { answerOnce, keyScope } from '#shared/tenancy/operations/idempotency.ts'
import type { AgentCaller } from './caller.ts'
import type { ToolCall } from './tool.ts'

/**
 * Does what a tool does once per key, as a POST with the same `x-idempotency-key` would: keys of tools and of the API
 * are one space (docs/spec/evidence-families.md#agent-tools).
 * @throws ValidationError for what is no key; IdempotencyInProgressError, IdempotencyKeyReusedError
 */
export async function once<T extends object>(
  { caller, deps }: ToolCall,
  tool: string,
  key: string,
  args: Record<string, unknown>,
  work: (tx: Knex.Transaction) => Promise<T>,
): Promise<T> {
  const requested = idempotentRequest(caller, `/mcp/${tool}`, key, args)
  const answer = await answerOnce(deps, { ...requested, retentionDays: 1 }, async (tx) =>
    jsonAnswer(200, await work(tx)),
  )
  return JSON.parse(answer.body) as T
}

/**
 * A key of a tool and what it is for, as a POST of the API would have them.
 * @throws ValidationError for what is no key
 */
export function idempotentRequest(
  caller: AgentCaller,
  route: string,
  key: string,
  args: Record<string, unknown>,
): IdempotentRequest {
  const fingerprint = requestFingerprint({ method: 'POST', route, params: {}, body: jsonOf(args) })
  return { scope: keyScope(caller, requireKey(key)), fingerprint }
}

/** Arguments as JSON: what JSON brought in is JSON, and what is undefined is not there. */
function jsonOf(args: Record<string, unknown>): JsonObject {
  return JSON.parse(JSON.stringify(args)) as JsonObject
}

/** @throws ValidationError */
function requireKey(key: string): string {
  if (isIdempotencyKey(key)) return key
  const message = 'idempotencyKey must be 1 to 255 visible ASCII characters'
  throw new ValidationError(message, [{ path: 'idempotencyKey', code: 'FORMAT', message }])
}
