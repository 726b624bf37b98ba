/**
 * What stands between us and PostgreSQL (docs/scale.md): nothing; a pooler that keeps a session for as long as we are
 * connected; or one that gives each transaction another session (ADR 25).
 */
export const poolers = ['none', 'session', 'transaction'] as const
export type Pooler = (typeof poolers)[number]

/** A pooler that does other than DATABASE_POOLER says: deadlines would not hold, or no row would be seen. */
export class PoolerError extends Error {
  override name = 'PoolerError'
}

/** What each session is given, by the names of PostgreSQL's settings: how long things may last, in milliseconds, and more. */
export function sessionSettings(timeoutMs: number) {
  return {
    statement_timeout: timeoutMs,
    // Shorter than that of the statement, whose error would not say that a lock was waited for.
    lock_timeout: Math.ceil(timeoutMs * 0.8),
    idle_in_transaction_session_timeout: timeoutMs * 3,
    // A statement over thousands of rows looks dear enough to be compiled first, at a tenth of a second each time, which
    // is more than any of ours takes.
    jit: 'off',
  }
}
