import { CanonicalJsonError } from '#shared/canonical/jcs.ts'
import type { JsonObject } from '#shared/canonical/parse-json.ts'
import { type FieldError, ValidationError } from '#shared/errors.ts'
import { type AnchoredFacts, factsOf } from '#shared/transparency/anchoring/verify.ts'
import { parseJsonBytes } from '../middleware/json-body.ts'

/** Plain data, because a thread returns it. */
export type VerifyBody = { ok: true; facts: AnchoredFacts } | { ok: false; message: string; errors: FieldError[] }

/** Accepts exactly `{"object": {...}}`. */
export function readVerifyBody(bytes: Uint8Array): VerifyBody {
  try {
    const body = parseJsonBytes(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), Number.POSITIVE_INFINITY)
    return { ok: true, facts: factsOf(objectOf(body)) }
  } catch (error) {
    if (error instanceof ValidationError) return { ok: false, message: error.message, errors: [...error.errors] }
    if (!(error instanceof CanonicalJsonError)) throw error
    const { message, path, code } = error
    return { ok: false, message, errors: [{ path: `object.${path}`, code, message }] }
  }
}

function objectOf(body: unknown): JsonObject {
  if (isObject(body) && isObject(body.object) && Object.keys(body).length === 1) return body.object
  const message = 'the body must be {"object": {...}} and nothing else'
  throw new ValidationError(message, [{ path: 'object', code: 'TYPE', message }])
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
