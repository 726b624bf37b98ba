import type { Knex } from 'knex'
import type { JsonObject } from '#shared/canonical/parse-json.ts'
import { ValidationError } from '#shared/errors.ts'
import { jsonAnswer } from '#shared/tenancy/idempotency/answer.ts'
import { type IdempotentRequest, isIdempotencyKey, requestFingerprint } from '#shared/tenancy/idempotency/store.ts'
import { answerOnce, keyScope } from '#shared/tenancy/operations/idempotency.ts'
import type { AgentCaller } from './caller.ts'
import type { ToolCall } from './tool.ts'

/**
 * Runs a tool once per key, as a POST with the same `x-idempotency-key` would. Tools and the API share the keys
 * (docs/spec/evidence-families.md#agent-tools).
 * @throws ValidationError for an invalid key; IdempotencyInProgressError, IdempotencyKeyReusedError
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
 * Returns the key and its request in the form of a POST.
 * @throws ValidationError for an invalid key
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

/** Drops undefined members, which JSON does not have. */
function jsonOf(args: Record<string, unknown>): JsonObject {
  return JSON.parse(JSON.stringify(args)) as JsonObject
}

/** @throws ValidationError */
function requireKey(key: string): string {
  if (isIdempotencyKey(key)) return key
  const message = 'idempotencyKey must be 1 to 255 visible ASCII characters'
  throw new ValidationError(message, [{ path: 'idempotencyKey', code: 'FORMAT', message }])
}
