import type { Request } from 'express'
import { IdempotencyKeyRequiredError, isIdempotencyKey } from '#shared/tenancy/idempotency/store.ts'

/** @throws IdempotencyKeyRequiredError when it is missing or malformed */
export function readIdempotencyKey(request: Request): string {
  const key = request.headers['x-idempotency-key']
  if (typeof key !== 'string' || key === '') {
    throw new IdempotencyKeyRequiredError('the header x-idempotency-key is required')
  }
  if (!isIdempotencyKey(key)) {
    throw new IdempotencyKeyRequiredError('x-idempotency-key must be 1 to 255 visible ASCII characters')
  }
  return key
}
