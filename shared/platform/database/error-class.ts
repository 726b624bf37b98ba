import type { Knex } from 'knex'
import { UnavailableError } from '../../errors.ts'
import { isRetryable } from './db.ts'
import { schemaProblem } from './migrate.ts'
import { PoolerError } from './server.ts'
import { ReplacedServerError } from './timeline-fence.ts'

/** 22: data exceptions; 23: violated constraints. Only these can be caused by the content of a message. */
const OF_THE_DATA = /^2[23]...$/
const SQLSTATE = /^[0-9A-Z]{5}$/

/**
 * Returns false if the database reports anything but invalid data, if a server is unreachable, or if the operating
 * system refused an operation: then every message would fail, and waiting helps.
 */
export function isCausedByMessage(error: unknown): boolean {
  if (error instanceof UnavailableError || isRetryable(error)) return false
  if (!(error instanceof Error)) return true
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (isSqlState(code)) return OF_THE_DATA.test(code)
  return !('syscall' in error)
}

/**
 * Returns false while the schema is older than this release or too new for it, because even a violated constraint may
 * then be a fault of the server. Also returns false if the database does not answer.
 */
export async function schemaMatches(db: Knex): Promise<boolean> {
  try {
    return (await schemaProblem(db)) === null
  } catch {
    return false
  }
}

/**
 * Returns true if the error of a dead letter, for example `error 42703`, is an SQLSTATE that the message cannot have
 * caused.
 */
export function isServerFault(errorName: string | null): boolean {
  const code = errorName?.split(' ').at(-1) ?? ''
  return isSqlState(code) && !OF_THE_DATA.test(code)
}

/** EPIPE also has five letters; SQLSTATEs that begin with a letter contain a digit. */
function isSqlState(code: string): boolean {
  return SQLSTATE.test(code) && /\d/.test(code)
}

const CLASSES: readonly [code: RegExp, words: string][] = [
  [/^28...$/, 'refuses the login'],
  [/^3D000$/, 'there is no such database'],
  [/^53300$/, 'has no connection left'],
  [/^53...$/, 'lacks disk or memory'],
  [/^57P0[1-3]$/, 'is starting or stopping'],
  [/^25006$/, 'is read-only'],
  [/^(40001|40P01|55P03|57014)$/, 'does not answer in time'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'its name cannot be resolved'],
  [/^ETIMEDOUT$/, 'does not answer in time'],
  [/^(08...|EPIPE|ECONN.*|E(HOST|NET)UNREACH)$/, 'cannot be reached'],
  [/^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/, 'its certificate is not accepted'],
]

/** Omits the driver's message, which may contain the address or the login. */
export function databaseFailure(error: unknown): string {
  if (error instanceof ReplacedServerError) return `the address leads to a server that was replaced: ${error.message}`
  if (error instanceof PoolerError) return error.message
  if (error instanceof Error && /unsupported startup parameter/.test(error.message))
    return 'a pooler refuses the settings of a session: DATABASE_POOLER must be set to its mode'
  const code = codeOf(error)
  const [, words] = CLASSES.find(([pattern]) => pattern.test(code)) ?? []
  if (words !== undefined) return `${words} (${code})`
  if (!(error instanceof Error)) return 'cannot be reached'
  if (error.name === 'KnexTimeoutError') return 'no connection comes free in time'
  if (/timeout/i.test(error.message)) return 'does not answer in time'
  if (/does not support SSL/.test(error.message)) return 'does not speak TLS'
  return code === '' ? 'cannot be reached' : `fails (${code})`
}

/** A host with several addresses fails with an AggregateError; its first error is sufficient. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0])
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
