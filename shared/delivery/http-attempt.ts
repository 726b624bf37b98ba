import type { HttpAnswer, HttpClient, OutgoingRequest } from '../platform/http/http-client.ts'
import { HttpClientError, type HttpFailure } from '../platform/http/http-error.ts'
import { type FailedOutcome, type FailureClass, permanent, temporary } from './outcome.ts'
import { parseRetryAfter } from './retry-schedule.ts'

/** One request and what came of it. Exactly one of the two is null. */
export type HttpAttempt =
  | { answer: HttpAnswer; retryAfterSeconds: number | null; failed: null }
  | { answer: null; retryAfterSeconds: null; failed: FailedOutcome }

/**
 * The one place where a notification or a webhook leaves the service: makes one request and turns every way of getting
 * no answer into a temporary failure of a known class. What an answer means is the caller's affair.
 * @param nowMs reads the clock, for a Retry-After that is a date
 */
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

/** 410 says that the address is gone for good: no retry mends it, and the integration is switched off. */
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
