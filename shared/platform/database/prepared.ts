import type { Knex } from 'knex'
import type { Client } from 'pg'
import { asUnavailable, isConnectionFailure } from './db.ts'
import { type Prepared, RoundTrip, type Step } from './round-trip.ts'
import type { SqlValue } from './sql.ts'

export type { Prepared } from './round-trip.ts'

/**
 * Runs a prepared statement in the transaction; `Row` says what its column list promises. Statements that are run in one
 * turn of the event loop travel together, in their order.
 */
export interface RunPrepared {
  <Row>(statement: Prepared, values: readonly SqlValue[]): Promise<Row[]>
  /** Runs a statement whose rows nobody needs: it travels with the next one, at the latest with the commit. */
  later(statement: Prepared, values: readonly SqlValue[]): void
}

const BEGIN: Prepared = { name: 'begin', text: 'BEGIN' }
const COMMIT: Prepared = { name: 'commit', text: 'COMMIT' }

/**
 * A transaction of prepared statements on one pooled connection, for the paths that run hundreds of times a second:
 * the query builder's own work, the server's parsing and a wait for each answer would cost more there than the statements
 * themselves. The begin travels with the first statement and the commit with the last.
 * @throws UnavailableError when the database cannot serve; anything else that `work` throws, unchanged
 */
export async function preparedTransaction<T>(db: Knex, work: (run: RunPrepared) => Promise<T>): Promise<T> {
  // knex's pool hands out the driver's clients; its types do not say so.
  const connection = (await db.client.acquireConnection().catch(rethrow)) as PooledClient
  const trips = openTrips(connection)
  try {
    trips.run.later(BEGIN, [])
    const result = await work(trips.run)
    await trips.run(COMMIT, [])
    return result
  } catch (error) {
    if (isConnectionFailure(error)) connection.__knex__disposed = error
    else if (trips.wasUsed()) {
      await connection.query('ROLLBACK').catch((failure: unknown) => (connection.__knex__disposed = failure))
    }
    throw asUnavailable(error)
  } finally {
    await db.client.releaseConnection(connection)
  }
}

type PooledClient = Client & { __knex__disposed?: unknown; isShared?: boolean }

function openTrips(connection: PooledClient): { run: RunPrepared; wasUsed: () => boolean } {
  let waiting: Step[] = []
  let isPlanned = false
  let wasUsed = false

  function start(): void {
    isPlanned = false
    wasUsed = true
    const steps = waiting
    waiting = []
    connection.query(new RoundTrip(steps, connection.isShared !== true))
  }

  function run<Row>(statement: Prepared, values: readonly SqlValue[]): Promise<Row[]> {
    return new Promise<Row[]>((resolve, reject) => {
      waiting.push({ statement, values, resolve, reject })
      if (isPlanned) return
      isPlanned = true
      process.nextTick(start)
    })
  }

  const later = (statement: Prepared, values: readonly SqlValue[]) => {
    waiting.push({ statement, values, resolve: () => {}, reject: () => {} })
  }
  return { run: Object.assign(run, { later }), wasUsed: () => wasUsed }
}

function rethrow(error: unknown): never {
  throw asUnavailable(error)
}
