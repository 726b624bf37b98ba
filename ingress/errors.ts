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

const CODES: Readonly<Record<ErrorCode, { status: number; title: string }>> = {
  VALIDATION_ERROR: { status: 400, title: 'The request is not valid' },
  IDEMPOTENCY_KEY_REQUIRED: { status: 400, title: 'An idempotency key is required' },
  UNAUTHORIZED: { status: 401, title: 'Authentication is required' },
  FORBIDDEN: { status: 403, title: 'Not permitted' },
  NOT_FOUND: { status: 404, title: 'Not found' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'The method is not allowed for this path' },
  REQUEST_TIMEOUT: { status: 408, title: 'The request did not arrive in time' },
  CONFLICT: { status: 409, title: 'The state does not permit this' },
  IDEMPOTENCY_IN_PROGRESS: { status: 409, title: 'A request with this idempotency key is still running' },
  PAYLOAD_TOO_LARGE: { status: 413, title: 'The body is too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'The media type is not supported' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, title: 'The idempotency key was used for another request' },
  RATE_LIMITED: { status: 429, title: 'Too many requests' },
  INTERNAL: { status: 500, title: 'Internal error' },
  UPSTREAM_UNAVAILABLE: { status: 503, title: 'A dependency is unavailable' },
  SERVICE_UNAVAILABLE: { status: 503, title: 'Not configured on this server' },
}

/** An error for the caller. All unexpected errors look the same. */
export interface Problem {
  status: number
  title: string
  code: ErrorCode
  message: string
  errors: readonly FieldError[]
  retryAfterSeconds: number | null
}

/**
 * Classifies an error. Database failures are reported as unavailable, values that the database refuses as faults of
 * the request. Unknown errors are logged with the request id.
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
  if (error.code === 'UNAUTHORIZED' || error.code === 'FORBIDDEN') {
    deps.log.info({ requestId: requestIdOf(response), code: error.code, ...routeOf(response) }, 'request.refused')
  }
  return {
    ...CODES[error.code],
    code: error.code,
    message: error.message,
    errors: faultsOf(error),
    retryAfterSeconds: error.retryAfterSeconds,
  }
}

/** The pattern, because a path may contain secrets. */
function routeOf({ req, locals }: Response): { method: string; route: string } {
  return { method: req.method, route: String(locals.route ?? 'none') }
}

function faultsOf(error: DomainError): readonly FieldError[] {
  const names = error instanceof ValidationError || error instanceof ConflictError || error instanceof RateLimitedError
  return names ? error.errors : []
}

/** The log entry shows that a validation rule is missing. */
function unstorable(thrown: unknown, response: Response, deps: IngressDeps): ValidationError {
  deps.log.warn({ requestId: requestIdOf(response), ...describeError(thrown) }, 'request.value-refused-by-database')
  return new ValidationError('a value of the request is outside the range that can be stored')
}

/**
 * Sends an error of the monitoring API: `{"error": text}` for invalid requests and limits, plain text for conflicts, and
 * no body for 403, 404 and errors without a text (docs/spec/monitoring.md#authentication.10).
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

/** RFC 9457. */
export function failProblem(thrown: unknown, request: Request, response: Response, deps: IngressDeps): void {
  if (cannotAnswer(response)) return
  const problem = toProblem(thrown, response, deps)
  setRetryHeaders(problem, response)
  response.status(problem.status).type('application/problem+json')
  response.end(JSON.stringify(problemDocument(problem, request, response, deps)))
}

/** Dialects may add members. */
export function problemDocument(
  problem: Problem,
  request: Request,
  response: Response,
  { config }: Pick<IngressDeps, 'config'>,
) {
  return {
    type: `urn:signalbox:error:${problem.code.toLowerCase().replaceAll('_', '-')}`,
    title: problem.title,
    status: problem.status,
    detail: problem.message,
    instance: config.basePath + (request.originalUrl.split('?', 1)[0] ?? ''),
    code: problem.code,
    message: problem.message,
    requestId: requestIdOf(response),
    errors: problem.errors,
  }
}

export function refuseMethodWithProblem(request: Request, response: Response, methods: readonly string[]): void {
  response.setHeader('Allow', methods.join(', '))
  if (request.method === 'OPTIONS') {
    response.status(204).end()
    return
  }
  throw new MethodNotAllowedError(`${request.method} is not allowed for this path`)
}

/** Closes the connection if the body was not read completely. */
export function setRetryHeaders(problem: Problem, response: Response): void {
  if (problem.retryAfterSeconds !== null) response.setHeader('Retry-After', problem.retryAfterSeconds)
  if (problem.code === 'PAYLOAD_TOO_LARGE' || problem.code === 'REQUEST_TIMEOUT')
    response.setHeader('Connection', 'close')
}

/**
 * Returns true if the response has begun. Then it cuts the connection, because a partial response must not look
 * complete.
 */
function cannotAnswer(response: Response): boolean {
  if (!response.headersSent) return false
  response.destroy()
  return true
}
