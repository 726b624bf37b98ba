import { DomainError } from '../../errors.ts'

/** The pack could not be composed, for a reason of ours. */
export class PackFailedError extends DomainError {
  readonly code = 'INTERNAL'
  constructor() {
    super('the pack could not be composed; a new request may succeed')
  }
}
