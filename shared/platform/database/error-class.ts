import type { Knex } from 'knex'
import { UnavailableError } from '../../errors.ts'
import { isRetryable } from './db.ts'
import { pendingMigrations } from './migrate.ts'
import { PoolerError } from './server.ts'
import { ReplacedServerError } from './timeline-fence.ts'

/** 22: data exceptions; 23: violated constraints. Only these can be brought about by what a message carries. */
const OF_THE_DATA = /^2[23]...$/
const SQLSTATE = /^[0-9A-Z]{5}$/

/**
 * Whether a failed handling may be held against the message. It may not when the database says anything but that the
 * data is at fault (a full disk, a missing column, a forgotten prepared statement), when a server cannot be reached, or
 * when the operating system refused something: then every message would fail alike, and waiting helps.
 * @param error what the handler threw
 */
export function isCausedByMessage(error: unknown): boolean {
  if (error instanceof UnavailableError || isRetryable(error)) return false
  if (!(error instanceof Error)) return true
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (isSqlState(code)) return OF_THE_DATA.test(code)
  return !('syscall' in error)
}

/**
 * Asked before a message is given up for what the database said of it: with a schema that lacks migrations of this
 * process even a violated constraint may be our own doing.
 * @returns false also when the database does not answer
 */
export async function schemaMatches(db: Knex): Promise<boolean> {
  try {
    return (await pendingMigrations(db)).length === 0
  } catch {
    return false
  }
}

/**
 * Whether a message was given up for a fault that was not its own, by the error that its dead letter names (`error
 * 42703`). Names without an SQLSTATE are no evidence of that.
 */
export function isOwnFailure(errorName: string | null): boolean {
  const code = errorName?.split(' ').at(-1) ?? ''
  return isSqlState(code) && !OF_THE_DATA.test(code)
}

/** EPIPE has five letters too; SQLSTATEs that begin with a letter have a digit in them. */
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

/**
 * What kind of failure keeps the database from serving, for operators: a few words and the code, never the driver's
 * message, which may hold the address or the login.
 */
export function databaseFailure(error: unknown): string {
  if (error instanceof ReplacedServerError) return `the address leads to a server that was replaced: ${error.message}`
  if (error instanceof PoolerError) return error.message
  if (error instanceof Error && /unsupported startup parameter/.test(error.message))
    return 'a pooler refuses the settings of a session: DATABASE_POOLER must say what it keeps'
  const code = codeOf(error)
  const [, words] = CLASSES.find(([pattern]) => pattern.test(code)) ?? []
  if (words !== undefined) return `${words} (${code})`
  if (!(error instanceof Error)) return 'cannot be reached'
  // What the pool and the driver say without a code.
  if (error.name === 'KnexTimeoutError') return 'no connection comes free in time'
  if (/timeout/i.test(error.message)) return 'does not answer in time'
  if (/does not support SSL/.test(error.message)) return 'does not speak TLS'
  return code === '' ? 'cannot be reached' : `fails (${code})`
}

/** A host with several addresses fails with an error of several, of which the first says enough. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0])
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
