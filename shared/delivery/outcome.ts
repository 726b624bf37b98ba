/** Kind of a failure for metrics and the owner's list of attempts. It reveals nothing about addresses. */
export type FailureClass =
  | 'config'
  | 'blocked'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'timeout'
  | 'reset'
  | 'protocol'
  | 'status'
  | 'refused'
  | 'limit'
  | 'internal'

/** A temporary failure is retried; a permanent one disables the integration. */
export type Outcome = { result: 'delivered' } | FailedOutcome

export interface FailedOutcome {
  result: 'temporary' | 'permanent'
  /** for the owner, at most 200 characters, one line (docs/spec/monitoring.md#integrations) */
  error: string
  failure: FailureClass
  retryAfterSeconds: number | null
  /** true if no retry follows, also after a temporary failure, for example a monthly limit */
  final: boolean
}

interface FailureDetails {
  failure: FailureClass
  retryAfterSeconds?: number | null
  final?: boolean
}

const maxErrorLength = 200

export const delivered: Outcome = { result: 'delivered' }

export function temporary(error: string, details: FailureDetails): FailedOutcome {
  return failed('temporary', error, details)
}

export function permanent(error: string, details: FailureDetails): FailedOutcome {
  return failed('permanent', error, { ...details, final: true })
}

const successStatuses = new Set([200, 201, 202, 204])

export function outcomeOfStatus(status: number, retryAfterSeconds: number | null = null): Outcome {
  if (successStatuses.has(status)) return delivered
  return temporary(`Received status code ${status}`, { failure: 'status', retryAfterSeconds })
}

function failed(result: FailedOutcome['result'], error: string, details: FailureDetails): FailedOutcome {
  return {
    result,
    error: oneLine(error),
    failure: details.failure,
    retryAfterSeconds: details.retryAfterSeconds ?? null,
    final: details.final ?? false,
  }
}

function oneLine(text: string): string {
  return [...text.replace(/\s+/gu, ' ').trim()].slice(0, maxErrorLength).join('')
}
