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

// bigint columns contain ids, counts and microseconds, all far below 2^53, so numbers are safe.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

export interface DatabaseOptions {
  url: string
  name: string
  poolSize: number
  timeoutMs: number
  pooler?: Pooler
  /** the fence of the process's other pools, so that all of them detect a replaced server together */
  fence?: TimelineFence
}

/** Connections are closed after 8 to 12 minutes, so that a moved address is noticed. */
const LIFE_MS = { min: 480_000, jitter: 240_000 }

/**
 * SQLSTATEs after which a connection must not return to the pool: the server shuts down (57P01-57P03) or became
 * read-only (25006), the connection is broken (08xxx), a pooler lost its prepared statements (26000), or plans no
 * longer match the schema (0A000).
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
        // Otherwise the following rollback would wait for the same silent server.
        connection.connection?.stream?.destroy()
      }
      throw error
    }
  }
}

export const TRACED_AS = { 'db.system': 'postgresql' }

/** Returns only the first word, because the rest may contain values. */
function verbOf({ sql = '' }: KnexQuery): string {
  return `db ${/^\s*(\w+)/.exec(sql)?.[1]?.toUpperCase() ?? 'statement'}`
}

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

/** By default knex logs plain text to the console. Callers receive and log every failure anyway. */
export const SILENT = { warn() {}, error() {}, deprecate() {}, debug() {} }

type PooledConnection = FencedConnection &
  ScopedConnection & {
    __knex__disposed?: unknown
    hosts?: DatabaseHosts
  }

/** Removes a connection from its pool. The next connection looks for the primary again. */
export function discardConnection(connection: Pick<PooledConnection, '__knex__disposed' | 'hosts'>, error: unknown) {
  connection.__knex__disposed = error
  connection.hosts?.doubt()
}

/** Opens a pool. After a timeout it destroys the connection, because the response may still arrive. */
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
      // The primary may have changed after a connection failed.
      expirationChecker: hosts.isDoubted,
      application_name: options.name,
      connectionTimeoutMillis: timeoutMs,
      // A pooler refuses these parameters; if none is configured, its refusal reveals the wrong setting.
      ...(pooler === 'none' ? { ...limits, options: `-c lock_timeout=${lock_timeout} -c jit=${jit}` } : {}),
      // Later than the server's own timeout, so that it only fires if the server is unreachable.
      query_timeout: timeoutMs + 1000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    }),
    pool: {
      min: 0,
      max: options.poolSize,
      idleTimeoutMillis: 30_000,
      maxConnectionLifetimeMillis: LIFE_MS.min,
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

/** Errors that the driver throws without a code. knex prepends the statement and a dash. */
const LOST =
  /(^| - )(Query read timeout|Connection terminated|timeout expired|Client has encountered a connection error)/

export function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error.name === 'KnexTimeoutError' || error instanceof ReplacedServerError) return true
  if (error instanceof PoolerError) return true
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (DISCARD.test(code)) return true
  if (/^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN)/.test(code)) return true
  return LOST.test(error.message)
}

/** Serialization failure, deadlock, lock timeout, statement timeout, resources (53xxx), system (58xxx). */
const RETRYABLE = /^(40001|40P01|55P03|57014|53...|58...)$/

export function isRetryable(error: unknown): boolean {
  if (isConnectionFailure(error)) return true
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && RETRYABLE.test(error.code)
}

/** Retries conflicts with jitter. @throws UnavailableError if the database cannot serve */
export async function transaction<T>(db: Knex, work: (tx: Knex.Transaction) => Promise<T>, tries = 4): Promise<T> {
  return await retryOnConflict(() => db.transaction(work), tries)
}

/** Also retries after the loss of prepared statements. @throws UnavailableError if the database cannot serve */
export async function retryOnConflict<T>(attempt: () => Promise<T>, tries = 4): Promise<T> {
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

const CONFLICT = /^(40001|40P01|26000|0A000)$/

function isConflict(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && CONFLICT.test(error.code)
}

export function asUnavailable(error: unknown): unknown {
  return isRetryable(error) ? new UnavailableError('the database cannot serve now', { cause: error }) : error
}

/** SQLSTATE class 22: a value of the statement is out of range, or text that cannot be stored. */
export function isDataException(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && /^22...$/.test(error.code)
}
