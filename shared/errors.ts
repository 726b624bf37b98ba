import type { FieldCode } from './field-codes.ts'

/** Every reason for which a caller is refused: stable, greppable, safe to show. `ingress/errors.ts` has their statuses. */
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

/** An error of ours with a stable code. What is not a DomainError too is nothing to tell a caller of: a 500. */
export abstract class CodedError extends Error {
  abstract readonly code: string
}

/**
 * The errors of the domain. They know nothing of HTTP: `ingress/errors.ts` alone turns a `code` into a status
 * and a body, one renderer per dialect.
 */
export abstract class DomainError extends CodedError {
  abstract override readonly code: ErrorCode
  /** when the same request may succeed; null where time alone changes nothing */
  readonly retryAfterSeconds: number | null = null
}

/** A rule that a member of the request breaks. `path` is the member as the caller wrote it: `steps[0].wait`. */
export interface FieldError {
  path: string
  code: FieldCode
  message: string
}

/** The input is not what the contract says; every message names its field. */
export class ValidationError extends DomainError {
  readonly code = 'VALIDATION_ERROR'
  readonly errors: readonly FieldError[]
  constructor(message: string, errors: readonly FieldError[] = []) {
    super(message)
    this.errors = errors
  }
}

/** No such thing, or not visible to this caller: the two must look alike. */
export class NotFoundError extends DomainError {
  readonly code = 'NOT_FOUND'
}

/** The caller is not who it says, or says nothing. */
export class UnauthorizedError extends DomainError {
  readonly code = 'UNAUTHORIZED'
}

/** The caller is known and may not. */
export class ForbiddenError extends DomainError {
  readonly code = 'FORBIDDEN'
}

/** The thing is in a state in which this cannot be done. */
export class ConflictError extends DomainError {
  readonly code = 'CONFLICT'
  /** which member of the request the state contradicts; empty where that says nothing */
  readonly errors: readonly FieldError[]
  constructor(message: string, errors: readonly FieldError[] = []) {
    super(message)
    this.errors = errors
  }
}

/** A dependency (database, broker, registry) cannot serve now; the caller may retry. */
export class UnavailableError extends DomainError {
  readonly code = 'UPSTREAM_UNAVAILABLE'
  override readonly retryAfterSeconds: number
  constructor(message: string, options: ErrorOptions & { retryAfterSeconds?: number } = {}) {
    super(message, options)
    this.retryAfterSeconds = options.retryAfterSeconds ?? 5
  }
}

/** Too many requests of this caller. */
export class RateLimitedError extends DomainError {
  readonly code = 'RATE_LIMITED'
  override readonly retryAfterSeconds: number
  /** what is used up, where that is one of several things */
  readonly errors: readonly FieldError[]
  constructor(message: string, retryAfterSeconds: number, errors: readonly FieldError[] = []) {
    super(message)
    this.retryAfterSeconds = retryAfterSeconds
    this.errors = errors
  }
}

/** A message that no retry can mend: the worker runtime dead-letters it at once. */
export class PermanentError extends CodedError {
  readonly code = 'PERMANENT'
}

/** A consumer key or webhook secret is not configured on our side: the contract's narrow meaning of 503. */
export class NotConfiguredError extends DomainError {
  readonly code = 'SERVICE_UNAVAILABLE'
}

/** One error that lists several; its message is the first one's. */
export function validationError(errors: readonly FieldError[]): ValidationError {
  return new ValidationError(errors[0]?.message ?? 'the request is not valid', errors)
}
