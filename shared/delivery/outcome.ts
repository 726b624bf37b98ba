/** Where a delivery failed, for metrics and for the owner's list of attempts; says nothing about addresses. */
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

/** How one attempt ended. What is temporary is tried again; what is permanent disables the integration. */
export type Outcome = { result: 'delivered' } | FailedOutcome

export interface FailedOutcome {
  result: 'temporary' | 'permanent'
  /** for the owner, at most 200 characters, one line (docs/spec/monitoring.md#integrations) */
  error: string
  failure: FailureClass
  /** what the target asked for; null when it said nothing */
  retryAfterSeconds: number | null
  /**
   * Whether trying again can help at all. A failure that no retry mends but that is not the integration's fault
   * (a monthly limit, a switched-off provider) is temporary and final.
   */
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

/** Statuses that count as delivered by a notification (docs/spec/monitoring.md#delivery-attempts). */
const successStatuses = new Set([200, 201, 202, 204])

/** The verdict on a notification's HTTP answer when its kind has no rule of its own. */
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
