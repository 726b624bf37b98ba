import type { FieldCode } from './field-codes.ts'

/** Stable codes of refusals. `ingress/errors.ts` has their HTTP statuses. */
export type ErrorCode =
  | 'VALIDATION_ERROR'
  | 'IDEMPOTENCY_KEY_REQUIRED'
  | 'UNAUTHORIZED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'REQUEST_TIMEOUT'
  | 'CONFLICT'
  | 'IDEMPOTENCY_IN_PROGRESS'
  | 'PAYLOAD_TOO_LARGE'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'RATE_LIMITED'
  | 'INTERNAL'
  | 'UPSTREAM_UNAVAILABLE'
  | 'SERVICE_UNAVAILABLE'

/** Callers see only DomainErrors; any other error is a 500. */
export abstract class CodedError extends Error {
  abstract readonly code: string
}

/** A caller may see it. Does not depend on HTTP: `ingress/errors.ts` maps its code. */
export abstract class DomainError extends CodedError {
  abstract override readonly code: ErrorCode
  /** seconds until a retry can succeed; null if a retry does not help */
  readonly retryAfterSeconds: number | null = null
}

/** `path` is the member as the caller wrote it: `steps[0].wait`. */
export interface FieldError {
  path: string
  code: FieldCode
  message: string
}

export class ValidationError extends DomainError {
  readonly code = 'VALIDATION_ERROR'
  readonly errors: readonly FieldError[]
  constructor(message: string, errors: readonly FieldError[] = []) {
    super(message)
    this.errors = errors
  }
}

/** Missing and invisible objects must look alike. */
export class NotFoundError extends DomainError {
  readonly code = 'NOT_FOUND'
}

export class UnauthorizedError extends DomainError {
  readonly code = 'UNAUTHORIZED'
}

/** The caller is authenticated and lacks the permission. */
export class ForbiddenError extends DomainError {
  readonly code = 'FORBIDDEN'
}

export class ConflictError extends DomainError {
  readonly code = 'CONFLICT'
  /** may be empty */
  readonly errors: readonly FieldError[]
  constructor(message: string, errors: readonly FieldError[] = []) {
    super(message)
    this.errors = errors
  }
}

/** A dependency (database, broker, registry) is unavailable; the caller may retry. */
export class UnavailableError extends DomainError {
  readonly code = 'UPSTREAM_UNAVAILABLE'
  override readonly retryAfterSeconds: number
  constructor(message: string, options: ErrorOptions & { retryAfterSeconds?: number } = {}) {
    super(message, options)
    this.retryAfterSeconds = options.retryAfterSeconds ?? 5
  }
}

export class RateLimitedError extends DomainError {
  readonly code = 'RATE_LIMITED'
  override readonly retryAfterSeconds: number
  /** if several apply */
  readonly errors: readonly FieldError[]
  constructor(message: string, retryAfterSeconds: number, errors: readonly FieldError[] = []) {
    super(message)
    this.retryAfterSeconds = retryAfterSeconds
    this.errors = errors
  }
}

/** Cannot succeed on a retry: the worker runtime dead-letters the message at once. */
export class PermanentError extends CodedError {
  readonly code = 'PERMANENT'
}

/** The contract's narrow meaning of 503: a consumer key or webhook secret is missing on our side. */
export class NotConfiguredError extends DomainError {
  readonly code = 'SERVICE_UNAVAILABLE'
}

/** The message is that of the first one. */
export function validationError(errors: readonly FieldError[]): ValidationError {
  return new ValidationError(errors[0]?.message ?? 'the request is not valid', errors)
}
