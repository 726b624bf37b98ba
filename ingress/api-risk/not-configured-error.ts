import { DomainError } from '#shared/errors.ts'

/** A consumer key or webhook secret is not configured on our side: the contract's narrow meaning of 503. */
export class NotConfiguredError extends DomainError {
  readonly code = 'SERVICE_UNAVAILABLE'
}
