import { CodedError } from '#shared/errors.ts'

/** The log is not advanced, because that could fork it; the message tells the operator how to proceed. */
export class LogRefusedError extends CodedError {
  readonly code = 'LOG_REFUSED'
}
