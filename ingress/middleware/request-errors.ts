import { DomainError } from '#shared/errors.ts'

/** The body is longer than this endpoint takes. */
export class PayloadTooLargeError extends DomainError {
  readonly code = 'PAYLOAD_TOO_LARGE'
}

/** The body is of a type, or compressed in a way, that this endpoint does not read. */
export class UnsupportedMediaTypeError extends DomainError {
  readonly code = 'UNSUPPORTED_MEDIA_TYPE'
}

/** The body did not arrive in time. */
export class RequestTimeoutError extends DomainError {
  readonly code = 'REQUEST_TIMEOUT'
}

/** The path exists, the method on it does not. */
export class MethodNotAllowedError extends DomainError {
  readonly code = 'METHOD_NOT_ALLOWED'
}

/** The connection closed before the body was complete: nobody is left to answer. */
export class AbortedRequestError extends DomainError {
  readonly code = 'VALIDATION_ERROR'
}
