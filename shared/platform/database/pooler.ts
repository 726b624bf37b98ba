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

/** How long PostgreSQL lets things last, in milliseconds, by the names of its settings. */
export function deadlines(timeoutMs: number) {
  return {
    statement_timeout: timeoutMs,
    // Shorter than that of the statement, whose error would not say that a lock was waited for.
    lock_timeout: Math.ceil(timeoutMs * 0.8),
    idle_in_transaction_session_timeout: timeoutMs * 3,
  }
}
