import { setTimeout as sleep } from 'node:timers/promises'
import knex, { type Knex } from 'knex'
import PostgresClient from 'knex/lib/dialects/postgres/index.js'
import pg from 'pg'
import { UnavailableError } from '../../errors.ts'
import { traced } from '../process/tracing.ts'
import { createDatabaseHosts, type DatabaseHosts } from './hosts.ts'
import { beginSession, type KnexQuery, runScoped, type ScopedConnection } from './scoped-connection.ts'
import { type Pooler, PoolerError, sessionSettings } from './server.ts'
import {
  createTimelineFence,
  type FencedConnection,
  ReplacedServerError,
  type TimelineFence,
} from './timeline-fence.ts'

// bigint columns hold ids, counts and microseconds, all far below 2^53: numbers serve better than texts.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

export interface DatabaseOptions {
  /** may name several servers, of which one is the primary */
  url: string
  /** shown in pg_stat_activity */
  name: string
  poolSize: number
  timeoutMs: number
  /** what the address leads to; PostgreSQL itself when absent */
  pooler?: Pooler
  /** that of the process's other pools, which then learn together that the server was replaced */
  fence?: TimelineFence
}

/** A connection lives ten minutes, more or less a fifth: long enough to be cheap, and an address that moved is noticed. */
const LIFE_MS = { least: 480_000, jitter: 240_000 }

/**
 * SQLSTATEs after which a connection must not go back to the pool: the server is going away (57P01-57P03), is
 * read-only because another one was promoted (25006), the connection is broken (08xxx), has forgotten the statements
 * that were prepared on it (26000, behind a pooler) or holds plans that the schema has left behind (0A000); or the query
 * was cancelled by our own deadline, whose answer may still be under way.
 */
const DISCARD = /^(25006|57P0[123]|08...|26000|0A000)$/

class DiscardingClient extends PostgresClient {
  override async _query(connection: PooledConnection, query: KnexQuery): Promise<unknown> {
    try {
      const run = () => runScoped(connection, query, () => super._query(connection, query))
      return await traced(() => verbOf(query), 'client', TRACED_AS, run)
    } catch (error) {
      if (isConnectionFailure(error)) {
        discardConnection(connection, error)
        // Without this, the rollback that follows would wait for the same silent server once more.
        connection.connection?.stream?.destroy()
      }
      throw error
    }
  }
}

/** What traces call the server. */
export const TRACED_AS = { 'db.system': 'postgresql' }

/** What a trace says of a statement: its first word, since the rest may hold values. */
function verbOf({ sql = '' }: KnexQuery): string {
  return `db ${/^\s*(\w+)/.exec(sql)?.[1]?.toUpperCase() ?? 'statement'}`
}

/** A client whose connections that are refused let the servers be asked again which is the primary. */
function clientOf(hosts: DatabaseHosts) {
  return class extends DiscardingClient {
    override async acquireRawConnection(): Promise<unknown> {
      try {
        return await super.acquireRawConnection()
      } catch (error) {
        hosts.doubt()
        throw error
      }
    }
  }
}

/** Left to itself knex writes plain text to the console. Every failure also reaches its caller, who logs it as ours are. */
const SILENT = { warn() {}, error() {}, deprecate() {}, debug() {} }

type PooledConnection = FencedConnection &
  ScopedConnection & {
    /** knex's own mark: a connection that carries it is destroyed instead of lent again */
    __knex__disposed?: unknown
    hosts?: DatabaseHosts
  }

/** Has a connection destroyed instead of lent again, and the servers asked anew which of them is the primary. */
export function discardConnection(connection: Pick<PooledConnection, '__knex__disposed' | 'hosts'>, error: unknown) {
  connection.__knex__disposed = error
  connection.hosts?.doubt()
}

/**
 * A pool with a finite wait for everything: for a connection, for a lock, for an answer, and for the answer's packets.
 * A deadline that passes destroys the connection, since its answer may yet arrive.
 */
export function openDatabase(options: DatabaseOptions): Knex {
  const { timeoutMs, pooler = 'none', fence = createTimelineFence() } = options
  const { lock_timeout, jit, ...limits } = sessionSettings(timeoutMs)
  const hosts = createDatabaseHosts(options.url)
  const prepare = async (connection: PooledConnection) => {
    connection.hosts = hosts
    try {
      await fence.admit(connection)
      await beginSession(connection, pooler, timeoutMs)
    } catch (error) {
      hosts.doubt()
      connection.connection?.stream?.destroy() // the pool forgets a connection that it could not make ready
      throw error
    }
  }
  return knex({
    client: clientOf(hosts),
    connection: async () => ({
      connectionString: await hosts.address(),
      // Asked for again once a connection failed: the primary may be another server by then.
      expirationChecker: hosts.isDoubted,
      application_name: options.name,
      connectionTimeoutMillis: timeoutMs,
      // A pooler refuses them; without one declared, that refusal tells of it.
      ...(pooler === 'none' ? { ...limits, options: `-c lock_timeout=${lock_timeout} -c jit=${jit}` } : {}),
      // Slightly later than the server's own limit, so that it only fires when the server cannot be heard.
      query_timeout: timeoutMs + 1000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    }),
    pool: {
      min: 0,
      max: options.poolSize,
      idleTimeoutMillis: 30_000,
      maxConnectionLifetimeMillis: LIFE_MS.least,
      maxConnectionLifetimeJitterMillis: LIFE_MS.jitter,
      acquireTimeoutMillis: timeoutMs,
      afterCreate(connection: PooledConnection, done: (error: unknown, connection: PooledConnection) => void) {
        prepare(connection).then(
          () => done(null, connection),
          (error: unknown) => done(error, connection),
        )
      },
    },
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
  if (error.name === 'KnexTimeoutError' || error instanceof ReplacedServerError) return true
  if (error instanceof PoolerError) return true
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (DISCARD.test(code)) return true
  if (/^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN)/.test(code)) return true
  return LOST.test(error.message)
}

/**
 * 40001 serialization failure, 40P01 deadlock, 55P03 lock timeout, 57014 statement timeout, 53xxx the server lacks disk,
 * memory or connections, 58xxx its operating system fails it.
 */
const RETRYABLE = /^(40001|40P01|55P03|57014|53...|58...)$/

/** Whether the same transaction, run again from its start, may succeed. */
export function isRetryable(error: unknown): boolean {
  if (isConnectionFailure(error)) return true
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && RETRYABLE.test(error.code)
}

/**
 * Runs `work` in a transaction; serialization failures and deadlocks are retried from the start, with jitter.
 * @throws UnavailableError when the database cannot serve; anything else that `work` throws, unchanged
 */
export async function transaction<T>(db: Knex, work: (tx: Knex.Transaction) => Promise<T>, tries = 4): Promise<T> {
  return await againOnConflict(() => db.transaction(work), tries)
}

/**
 * Makes another attempt after one that was in another's way, or whose connection no longer knew its statements; each
 * attempt is a transaction of its own.
 * @throws UnavailableError when the database cannot serve; anything else that the last attempt throws, unchanged
 */
export async function againOnConflict<T>(attempt: () => Promise<T>, tries = 4): Promise<T> {
  for (let made = 1; ; made++) {
    try {
      return await attempt()
    } catch (error) {
      if (!isConflict(error instanceof UnavailableError ? error.cause : error) || made >= tries)
        throw asUnavailable(error)
      await sleep(Math.random() * 20 * 2 ** made)
    }
  }
}

/** Nothing of such an attempt was committed, and the next one may fare better. */
const CONFLICT = /^(40001|40P01|26000|0A000)$/

function isConflict(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && CONFLICT.test(error.code)
}

/** Wraps what is the database's fault into an UnavailableError; returns everything else as it came. */
export function asUnavailable(error: unknown): unknown {
  return isRetryable(error) ? new UnavailableError('the database cannot serve now', { cause: error }) : error
}

/** Whether a value of the statement is at fault (SQLSTATE class 22): out of range, or no text that can be stored. */
export function isDataException(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && /^22...$/.test(error.code)
}
