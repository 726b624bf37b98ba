import { DomainError } from '../../errors.ts'

/** A mutating POST came without a usable `x-idempotency-key`. */
export class IdempotencyKeyRequiredError extends DomainError {
  readonly code = 'IDEMPOTENCY_KEY_REQUIRED'
}

/** The same request is being answered right now, here or in another process. */
export class IdempotencyInProgressError extends DomainError {
  readonly code = 'IDEMPOTENCY_IN_PROGRESS'
  override readonly retryAfterSeconds: number
  constructor(retryAfterSeconds: number) {
    super('the first request with this key is still being answered')
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** The key was used for another request. */
export class IdempotencyKeyReusedError extends DomainError {
  readonly code = 'IDEMPOTENCY_KEY_REUSED'
  constructor() {
    super('this key was used for a request with another path or body')
  }
}
