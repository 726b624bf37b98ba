import { CodedError } from '#shared/errors.ts'

/** Advancing the log could fork it. The message contains instructions for the operator. */
export class LogRefusedError extends CodedError {
  readonly code = 'LOG_REFUSED'
}

/** The operator ended the log and began one under a new key. */
export class LogReplacedError extends CodedError {
  readonly code = 'LOG_REPLACED'
}
