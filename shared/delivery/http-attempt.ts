import type { HttpAnswer, HttpClient, OutgoingRequest } from '../platform/http/http-client.ts'
import { HttpClientError, type HttpFailure } from '../platform/http/http-error.ts'
import { type FailedOutcome, type FailureClass, permanent, temporary } from './outcome.ts'
import { parseRetryAfter } from './retry-schedule.ts'

export type HttpAttempt =
  | { answer: HttpAnswer; retryAfterSeconds: number | null; failed: null }
  | { answer: null; retryAfterSeconds: null; failed: FailedOutcome }

/** A missing response becomes a temporary failure; the caller evaluates responses. */
export async function attemptHttp(
  http: Pick<HttpClient, 'request'>,
  nowMs: () => number,
  request: OutgoingRequest,
): Promise<HttpAttempt> {
  try {
    const answer = await http.request(request)
    return { answer, retryAfterSeconds: parseRetryAfter(answer.headers['retry-after'], nowMs()), failed: null }
  } catch (error) {
    if (!(error instanceof HttpClientError)) throw error
    const failed = temporary(error.message, { failure: failureClass[error.failure] })
    return { answer: null, retryAfterSeconds: null, failed }
  }
}

/** The address is gone permanently: a retry cannot help, and the integration is disabled. */
export const GONE = permanent('Received status code 410', { failure: 'status' })

const failureClass: Record<HttpFailure, FailureClass> = {
  'invalid-url': 'config',
  blocked: 'blocked',
  dns: 'dns',
  connect: 'connect',
  tls: 'tls',
  timeout: 'timeout',
  reset: 'reset',
  protocol: 'protocol',
  redirects: 'protocol',
  aborted: 'internal',
}
