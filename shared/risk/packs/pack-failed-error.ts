import { DomainError } from '../../errors.ts'

export class PackFailedError extends DomainError {
  readonly code = 'INTERNAL'
  constructor() {
    super('the pack could not be composed because of an internal error; send a new request')
  }
}
