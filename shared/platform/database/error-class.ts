import type { Knex } from 'knex'
import { UnavailableError } from '../../errors.ts'
import { isRetryable } from './db.ts'
import { pendingMigrations } from './migrate.ts'

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
