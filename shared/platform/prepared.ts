import type { Knex } from 'knex'
import type { Client, QueryResult } from 'pg'
import { asUnavailable, isConnectionFailure } from './db.ts'
import type { SqlValue } from './sql.ts'

/** A statement that each connection parses once. `text` has `$1`, `$2`, ... */
export interface Prepared {
  name: string
  text: string
}

/** Runs a prepared statement in the transaction; `Row` says what its column list promises. */
export type RunPrepared = <Row>(statement: Prepared, values: readonly SqlValue[]) => Promise<Row[]>

/**
 * A transaction of prepared statements on one pooled connection, for the paths that run hundreds of times a second:
 * the query builder's own work and the server's parsing would cost more there than the statements themselves.
 * @throws UnavailableError when the database cannot serve; anything else that `work` throws, unchanged
 */
export async function preparedTransaction<T>(db: Knex, work: (run: RunPrepared) => Promise<T>): Promise<T> {
  // knex's pool hands out the driver's clients; its types do not say so.
  const connection = (await db.client.acquireConnection().catch(rethrow)) as Client & { __knex__disposed?: unknown }
  const run: RunPrepared = async <Row>(statement: Prepared, values: readonly SqlValue[]) => {
    const result: QueryResult = await connection.query({ ...statement, values: [...values] })
    // The statement's own text decides what its rows are.
    return result.rows as Row[]
  }
  try {
    await connection.query('BEGIN')
    const result = await work(run)
    await connection.query('COMMIT')
    return result
  } catch (error) {
    if (isConnectionFailure(error)) connection.__knex__disposed = error
    else await connection.query('ROLLBACK').catch((failure: unknown) => (connection.__knex__disposed = failure))
    throw asUnavailable(error)
  } finally {
    await db.client.releaseConnection(connection)
  }
}

function rethrow(error: unknown): never {
  throw asUnavailable(error)
}
