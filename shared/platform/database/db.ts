import knex, { type Knex } from 'knex'
import PostgresClient from 'knex/lib/dialects/postgres/index.js'
import pg from 'pg'
import { UnavailableError } from '../errors.ts'

// bigint columns hold ids, counts and microseconds, all far below 2^53: numbers serve better than texts.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

export interface DatabaseOptions {
  url: string
  /** shown in pg_stat_activity */
  name: string
  poolSize: number
  timeoutMs: number
}

/**
 * SQLSTATEs after which a connection must not go back to the pool: the server is going away (57P01-57P03), is
 * read-only because another one was promoted (25006), the connection is broken (08xxx), or the query was cancelled by
 * our own deadline, whose answer may still be under way.
 */
const DISCARD = /^(25006|57P0[123]|08...)$/

class DiscardingClient extends PostgresClient {
  override async _query(connection: PooledConnection, query: unknown): Promise<unknown> {
    try {
      return await super._query(connection, query)
    } catch (error) {
      if (isConnectionFailure(error)) {
        connection.__knex__disposed = error
        // Without this, the rollback that follows would wait for the same silent server once more.
        connection.connection?.stream?.destroy()
      }
      throw error
    }
  }
}

/** Left to itself knex writes plain text to the console. Every failure also reaches its caller, who logs it as ours are. */
const SILENT = { warn() {}, error() {}, deprecate() {}, debug() {} }

interface PooledConnection {
  /** knex's own mark: a connection that carries it is destroyed instead of lent again */
  __knex__disposed?: unknown
  /** the driver's own connection, and its socket */
  connection?: { stream?: { destroy(): void } }
}

/**
 * A pool with a finite wait for everything: for a connection, for a lock, for an answer, and for the answer's packets.
 * A deadline that passes destroys the connection, since its answer may yet arrive.
 */
export function openDatabase(options: DatabaseOptions): Knex {
  const { timeoutMs } = options
  return knex({
    client: DiscardingClient,
    connection: {
      connectionString: options.url,
      application_name: options.name,
      connectionTimeoutMillis: timeoutMs,
      statement_timeout: timeoutMs,
      options: `-c lock_timeout=${Math.ceil(timeoutMs * 0.8)}`,
      idle_in_transaction_session_timeout: timeoutMs * 3,
      // Slightly later than the server's own limit, so that it only fires when the server cannot be heard.
      query_timeout: timeoutMs + 1000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    },
    pool: { min: 0, max: options.poolSize, idleTimeoutMillis: 30_000, acquireTimeoutMillis: timeoutMs },
    asyncStackTraces: false,
    log: SILENT,
  })
}

/** What the driver says without a code. knex puts the statement and a dash in front. */
const LOST =
  /(^| - )(Query read timeout|Connection terminated|timeout expired|Client has encountered a connection error)/

/** Whether the database, not the statement, is at fault: the same work may succeed later on another connection. */
export function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error.name === 'KnexTimeoutError') return true
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (DISCARD.test(code)) return true
  if (/^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN)/.test(code)) return true
  return LOST.test(error.message)
}

/** 40001 serialization failure, 40P01 deadlock, 55P03 lock timeout, 57014 statement timeout, 53300 too many clients. */
const RETRYABLE = new Set(['40001', '40P01', '55P03', '57014', '53300'])

/** Whether the same transaction, run again from its start, may succeed. */
export function isRetryable(error: unknown): boolean {
  if (isConnectionFailure(error)) return true
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && RETRYABLE.has(error.code)
}

/**
 * Runs `work` in a transaction; serialization failures and deadlocks are retried from the start, with jitter.
 * @throws UnavailableError when the database cannot serve; anything else that `work` throws, unchanged
 */
export async function transaction<T>(db: Knex, work: (tx: Knex.Transaction) => Promise<T>, tries = 4): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction(work)
    } catch (error) {
      const conflict = error instanceof Error && 'code' in error && (error.code === '40001' || error.code === '40P01')
      if (!conflict || attempt >= tries) throw asUnavailable(error)
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * 2 ** attempt))
    }
  }
}

/** Wraps what is the database's fault into an UnavailableError; returns everything else as it came. */
export function asUnavailable(error: unknown): unknown {
  return isRetryable(error) ? new UnavailableError('the database cannot serve now', { cause: error }) : error
}
