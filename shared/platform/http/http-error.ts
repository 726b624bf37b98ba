import type { TargetProblem } from './target-policy.ts'

/** The phase in which a request failed. `blocked` means that the target policy forbids the address. */
export type HttpFailure =
  | 'invalid-url'
  | 'blocked'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'timeout'
  | 'reset'
  | 'protocol'
  | 'redirects'
  | 'aborted'

/** Fixed, because socket errors contain internal addresses (docs/spec/monitoring.md#delivery-attempts). */
const failureTexts: Record<HttpFailure, string> = {
  'invalid-url': 'HTTP request failed, code: 3',
  blocked: 'Connections to private IP addresses are not allowed',
  dns: 'Could not resolve host',
  connect: 'Connection failed',
  tls: 'TLS handshake failed',
  timeout: 'Connection timed out',
  reset: 'HTTP request failed, code: 56',
  protocol: 'HTTP request failed, code: 8',
  redirects: 'Too many redirects',
  aborted: 'HTTP request failed, code: 42',
}

/** `message` may be shown; `cause` contains addresses and is for the log only. */
export class HttpClientError extends Error {
  override readonly name = 'HttpClientError'
  readonly failure: HttpFailure
  constructor(failure: HttpFailure, options?: ErrorOptions & { text?: string }) {
    super(options?.text ?? failureTexts[failure], options)
    this.failure = failure
  }
}

/** An address or URL that the policy refuses; thrown in a lookup or redirect and found as the cause of an error. */
export class BlockedTargetError extends Error {
  override readonly name = 'BlockedTargetError'
  readonly reason: TargetProblem
  constructor(reason: TargetProblem) {
    super(reason)
    this.reason = reason
  }

  /** Only a private address has a separate failure. Other problems mean that an invalid URL was stored. */
  get failure(): HttpFailure {
    return this.reason === 'private-address' ? 'blocked' : 'invalid-url'
  }
}

export function classifyFailure(error: unknown): HttpClientError {
  if (error instanceof HttpClientError) return error
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof HttpClientError) return cause
    if (cause instanceof BlockedTargetError) return new HttpClientError(cause.failure, { cause: error })
  }
  const code = codeOf(error)
  return new HttpClientError(failureOf(code, error), { cause: error })
}

const dnsCodes = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'ENODATA', 'ESERVFAIL', 'EBADNAME'])
const connectCodes = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'EACCES',
  'EPERM',
  'EHOSTDOWN',
])
const resetCodes = new Set([
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_HTTP_CONTENT_LENGTH_MISMATCH',
])
const tlsCodes =
  /^(?:ERR_TLS|ERR_SSL|EPROTO|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|CRL_|INVALID_CA|INVALID_PURPOSE)/

function failureOf(code: string, error: unknown): HttpFailure {
  if (code === 'ETIMEDOUT') return 'timeout'
  if (dnsCodes.has(code)) return 'dns'
  if (connectCodes.has(code)) return 'connect'
  if (tlsCodes.test(code)) return 'tls'
  if (code === 'ERR_TOO_MANY_REDIRECTS') return 'redirects'
  if (code === 'ERR_ABORTED') return 'aborted'
  if (code === 'ERR_INVALID_URL') return 'invalid-url'
  // The target closed the connection during the TLS handshake; Node reports a reset with this text.
  if (code === 'ECONNRESET' && error instanceof Error && error.message.includes('secure TLS connection')) return 'tls'
  return resetCodes.has(code) ? 'reset' : 'protocol'
}

function codeOf(error: unknown): string {
  if (error instanceof AggregateError) return codeOf(error.errors[0])
  if (!(error instanceof Error)) return ''
  const own = 'code' in error && typeof error.code === 'string' ? error.code : ''
  // got sets its own code if the cause has none; the code of the cause is more precise.
  if (!own.startsWith('ERR_GOT') && own !== 'ERR_READING_RESPONSE_STREAM' && own !== '') return own
  return error.cause ? codeOf(error.cause) : own
}
