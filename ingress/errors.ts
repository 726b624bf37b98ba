import type { Request, Response } from 'express'
import {
  ConflictError,
  DomainError,
  type ErrorCode,
  type FieldError,
  RateLimitedError,
  UnavailableError,
  ValidationError,
} from '#shared/errors.ts'
import { asUnavailable, isDataException } from '#shared/platform/database/db.ts'
import { describeError } from '#shared/platform/process/log.ts'
import type { IngressDeps } from './deps.ts'
import { MethodNotAllowedError, requestIdOf } from './middleware/request-safety.ts'

/** The status and title of every code. */
const CODES: Readonly<Record<ErrorCode, { status: number; title: string }>> = {
  VALIDATION_ERROR: { status: 400, title: 'The request is not valid' },
  IDEMPOTENCY_KEY_REQUIRED: { status: 400, title: 'An idempotency key is required' },
  UNAUTHORIZED: { status: 401, title: 'Authentication is required' },
  FORBIDDEN: { status: 403, title: 'Not permitted' },
  NOT_FOUND: { status: 404, title: 'Not found' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'The method is not allowed here' },
  REQUEST_TIMEOUT: { status: 408, title: 'The request did not arrive in time' },
  CONFLICT: { status: 409, title: 'The state does not permit this' },
  IDEMPOTENCY_IN_PROGRESS: { status: 409, title: 'The same request is still being answered' },
  PAYLOAD_TOO_LARGE: { status: 413, title: 'The body is too long' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'The type of the body is not supported' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, title: 'The idempotency key belongs to another request' },
  RATE_LIMITED: { status: 429, title: 'Too many requests' },
  INTERNAL: { status: 500, title: 'Something went wrong on our side' },
  UPSTREAM_UNAVAILABLE: { status: 503, title: 'A dependency cannot serve now' },
  SERVICE_UNAVAILABLE: { status: 503, title: 'Not configured on this server' },
}

/** An error with what a caller may know of it; everything unforeseen looks the same. */
export interface Problem {
  status: number
  title: string
  code: ErrorCode
  message: string
  errors: readonly FieldError[]
  retryAfterSeconds: number | null
}

/**
 * Classifies anything thrown. Database failures count as unavailability, values that the database cannot take as
 * mistakes of the request; unknown errors are logged with the request id.
 */
export function toProblem(thrown: unknown, response: Response, deps: IngressDeps): Problem {
  const error = isDataException(thrown) ? unstorable(thrown, response, deps) : asUnavailable(thrown)
  if (!(error instanceof DomainError)) {
    deps.log.error({ requestId: requestIdOf(response), ...describeError(error) }, 'request.failed')
    const message = 'an unexpected error of the service; the server log has it under the request id'
    return { ...CODES.INTERNAL, code: 'INTERNAL', message, errors: [], retryAfterSeconds: null }
  }
  if (error instanceof UnavailableError) {
    deps.log.warn({ requestId: requestIdOf(response), ...describeError(error) }, 'request.unavailable')
  }
  return {
    ...CODES[error.code],
    code: error.code,
    message: error.message,
    errors: faultsOf(error),
    retryAfterSeconds: error.retryAfterSeconds,
  }
}

/** What an error says of members of the request. */
function faultsOf(error: DomainError): readonly FieldError[] {
  const names = error instanceof ValidationError || error instanceof ConflictError || error instanceof RateLimitedError
  return names ? error.errors : []
}

/** What is refused here passed every check of ours: the log says where one is missing. */
function unstorable(thrown: unknown, response: Response, deps: IngressDeps): ValidationError {
  deps.log.warn({ requestId: requestIdOf(response), ...describeError(thrown) }, 'request.value-refused-by-database')
  return new ValidationError('a value of the request is outside the range that can be stored')
}

/**
 * The monitoring API's answer to an error: `{"error": text}` for what the caller can mend and for limits, an empty
 * body for missing and forbidden things, plain text for conflicts (docs/spec/monitoring.md#authentication.10). A validation error
 * without a text has an empty body too.
 */
export function failMonitoring(thrown: unknown, _request: Request, response: Response, deps: IngressDeps): void {
  if (cannotAnswer(response)) return
  const problem = toProblem(thrown, response, deps)
  setRetryHeaders(problem, response)
  response.status(problem.status)
  if (problem.code === 'CONFLICT') response.type('text/plain').end(problem.message)
  else if (problem.code === 'INTERNAL') {
    sendJson(response, { error: 'internal error', request_id: requestIdOf(response) })
  } else if (hasMonitoringBody(problem)) sendJson(response, { error: problem.message })
  else response.end()
}

function sendJson(response: Response, body: object): void {
  response.setHeader('Content-Type', 'application/json')
  response.end(JSON.stringify(body))
}

function hasMonitoringBody({ code, message }: Problem): boolean {
  return message !== '' && code !== 'NOT_FOUND' && code !== 'FORBIDDEN' && code !== 'METHOD_NOT_ALLOWED'
}

/** The answer to an error everywhere else: `application/problem+json` (RFC 9457) with our members. */
export function failProblem(thrown: unknown, request: Request, response: Response, deps: IngressDeps): void {
  if (cannotAnswer(response)) return
  const problem = toProblem(thrown, response, deps)
  setRetryHeaders(problem, response)
  response.status(problem.status).type('application/problem+json')
  response.end(JSON.stringify(problemDocument(problem, request, response)))
}

/** The members of a problem document; for dialects that add their own. */
export function problemDocument(problem: Problem, request: Request, response: Response) {
  return {
    type: `urn:signalbox:error:${problem.code.toLowerCase().replaceAll('_', '-')}`,
    title: problem.title,
    status: problem.status,
    detail: problem.message,
    instance: request.originalUrl.split('?', 1)[0] ?? '',
    code: problem.code,
    message: problem.message,
    requestId: requestIdOf(response),
    errors: problem.errors,
  }
}

/** Refuses a method in the problem dialect, naming those that the path has. */
export function refuseMethodWithProblem(request: Request, response: Response, methods: readonly string[]): void {
  response.setHeader('Allow', methods.join(', '))
  if (request.method === 'OPTIONS') {
    response.status(204).end()
    return
  }
  throw new MethodNotAllowedError(`${request.method} is not allowed here`)
}

/** Sets `Retry-After`, and closes connections whose body was not read to its end. */
export function setRetryHeaders(problem: Problem, response: Response): void {
  if (problem.retryAfterSeconds !== null) response.setHeader('Retry-After', problem.retryAfterSeconds)
  if (problem.code === 'PAYLOAD_TOO_LARGE' || problem.code === 'REQUEST_TIMEOUT')
    response.setHeader('Connection', 'close')
}

/** Too late for an answer: the connection is cut, so that nobody takes half of one for a whole. */
function cannotAnswer(response: Response): boolean {
  if (!response.headersSent) return false
  response.destroy()
  return true
}
