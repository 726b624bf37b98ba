import { CodedError } from '#shared/errors.ts'

/** Advancing the log could fork it. The message contains instructions for the operator. */
export class LogRefusedError extends CodedError {
  readonly code = 'LOG_REFUSED'
}
