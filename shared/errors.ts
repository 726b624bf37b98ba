/**
 * The errors of the domain. They know nothing of HTTP: `ingress/errors.ts` alone turns a `code` into a status
 * and a body, one renderer per dialect.
 */
export abstract class DomainError extends Error {
  /** Stable, greppable, safe to show to a caller. */
  abstract readonly code: string
}

/** One thing wrong with one member of the input. `path` is the member as the caller wrote it, `code` a stable reason. */
export interface FieldError {
  path: string
  code: string
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
}

/** A dependency (database, broker, registry) cannot serve now; the caller may retry. */
export class UnavailableError extends DomainError {
  readonly code = 'UPSTREAM_UNAVAILABLE'
  readonly retryAfterSeconds: number
  constructor(message: string, options: ErrorOptions & { retryAfterSeconds?: number } = {}) {
    super(message, options)
    this.retryAfterSeconds = options.retryAfterSeconds ?? 5
  }
}

/** A message that no retry can mend: the worker runtime dead-letters it at once. */
export class PermanentError extends DomainError {
  readonly code = 'PERMANENT'
}
