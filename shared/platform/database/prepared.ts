import { hash } from 'node:crypto'
import type { Knex } from 'knex'
import type { Client } from 'pg'
import { traced } from '../process/tracing.ts'
import { asUnavailable, discardConnection, isConnectionFailure, retryOnConflict, TRACED_AS } from './db.ts'
import { type Prepared, type Result, RoundTrip, type Step } from './round-trip.ts'
import { PIPELINE_ROLE } from './row-security.ts'
import type { ScopedConnection } from './scoped-connection.ts'
import type { SqlValue } from './sql.ts'
import { currentTenant, type Tenant } from './tenant.ts'

export type { Prepared } from './round-trip.ts'

/** Statements that start in one iteration of the event loop are sent together, in order. */
export interface RunPrepared {
  <Row>(statement: Prepared<Row>, values: readonly SqlValue[]): Promise<NoInfer<Row>[]>
  count(statement: Prepared, values: readonly SqlValue[]): Promise<number>
  /** Runs a statement without a result. It is sent with the next one, at the latest with the commit. */
  later(statement: Prepared, values: readonly SqlValue[]): void
  /** The transaction for stores: each statement text becomes a prepared statement. */
  tx: Knex.Transaction
  /** The same for stores that only write: statements are sent as with `later`, without rows or a count. */
  writes: Knex.Transaction
}

const BEGIN: Prepared = { name: 'begin', text: 'BEGIN' }
const COMMIT: Prepared = { name: 'commit', text: 'COMMIT' }
const NARROW: Prepared = {
  name: 'narrow',
  text: `SELECT set_config('role', 'none', true), set_config('signalbox.organisation_id', $1, true),
    set_config('signalbox.project_id', $2, true)`,
}
const WIDEN: Prepared = { name: 'widen', text: `SELECT set_config('role', '${PIPELINE_ROLE}', true)` }
const NARROW_AGAIN: Prepared = { name: 'narrow-again', text: "SELECT set_config('role', 'none', true)" }

type PooledClient = Client & ScopedConnection & { __knex__disposed?: unknown }

/**
 * For paths that run hundreds of times per second: the query builder, parsing and round trips would cost more than
 * the statements. A tenant's request sees only its own rows. @throws UnavailableError if the database cannot serve;
 * other errors of `work`, unchanged
 */
export async function preparedTransaction<T>(db: Knex, work: (run: RunPrepared) => Promise<T>): Promise<T> {
  return await traced(
    () => 'db transaction',
    'client',
    TRACED_AS,
    () => inTransaction(db, work),
  )
}

async function inTransaction<T>(db: Knex, work: (run: RunPrepared) => Promise<T>): Promise<T> {
  // knex's pool returns clients of the driver, which its types do not declare.
  const connection = (await db.client.acquireConnection().catch(rethrow)) as PooledClient
  const trips = openTrips(connection)
  try {
    const tenant = connection.hasRowSecurity ? currentTenant() : undefined
    trips.run.later(BEGIN, [])
    if (tenant !== undefined) trips.run.later(NARROW, [idText(tenant.organisationId), idText(tenant.projectId)])
    connection.transaction = tenant === undefined ? 'pipeline' : 'tenant'
    const result = await work(trips.run)
    await trips.run(COMMIT, [])
    return result
  } catch (error) {
    if (isConnectionFailure(error)) discardConnection(connection, error)
    else if (trips.wasUsed()) {
      await connection.query('ROLLBACK').catch((failure: unknown) => discardConnection(connection, failure))
    }
    throw asUnavailable(error)
  } finally {
    connection.transaction = undefined
    await db.client.releaseConnection(connection)
  }
}

/** `read` must start its statement immediately. @throws UnavailableError if the database cannot serve */
export async function preparedRead<T>(db: Knex, read: (tx: Knex) => Promise<T>): Promise<T> {
  const { requested } = await retryOnConflict(() =>
    preparedTransaction(db, async (run) => {
      const requested = read(run.tx)
      // Not awaited, so that the commit is sent in the same trip; the commit fails if the statement fails.
      requested.catch(() => {})
      return { requested }
    }),
  )
  return await requested
}

function idText(id: Tenant['organisationId']): string {
  return id === undefined ? '' : String(id)
}

function openTrips(connection: PooledClient): { run: RunPrepared; wasUsed: () => boolean } {
  let waiting: Step[] = []
  let isScheduled = false
  let wasUsed = false

  function start(): void {
    isScheduled = false
    wasUsed = true
    const steps = waiting
    waiting = []
    void connection.query(new RoundTrip(steps, connection.isShared !== true))
  }

  function send(statement: Prepared, values: readonly SqlValue[]): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      waiting.push({ statement, values, resolve, reject })
      if (isScheduled) return
      isScheduled = true
      process.nextTick(start)
    })
  }

  async function run<Row>(statement: Prepared<Row>, values: readonly SqlValue[]): Promise<Row[]> {
    // The statement text determines the row type.
    return (await send(statement, values)).rows as Row[]
  }

  const count = async (statement: Prepared, values: readonly SqlValue[]) =>
    (await send(statement, values)).rowCount ?? 0
  const later = (statement: Prepared, values: readonly SqlValue[]) => {
    waiting.push({ statement, values, resolve: () => {}, reject: () => {} })
  }

  /**
   * Returns the transaction that stores receive. In a tenant's transaction, a statement outside the tenant's context
   * runs with the pipeline role.
   */
  const asStores = (put: (statement: Prepared, values: readonly SqlValue[]) => Promise<Result>) => {
    const raw = (text: string, values: readonly SqlValue[]) => {
      const isWider = connection.transaction === 'tenant' && currentTenant() === undefined
      if (isWider) later(WIDEN, [])
      const result = put(preparedOf(text), values)
      if (isWider) later(NARROW_AGAIN, [])
      return result
    }
    // Stores only use this function (`sql.ts`).
    return { raw } as unknown as Knex.Transaction
  }
  const write = (statement: Prepared, values: readonly SqlValue[]) => {
    later(statement, values)
    return NOTHING
  }
  return {
    run: Object.assign(run, { count, later, tx: asStores(send), writes: asStores(write) }),
    wasUsed: () => wasUsed,
  }
}

const NOTHING: Promise<Result> = Promise.resolve({ rows: [], rowCount: null })

const texts = new Map<string, Prepared>()

function preparedOf(text: string): Prepared {
  const known = texts.get(text)
  if (known) return known
  let count = 0
  const numbered = text.replaceAll('?', () => `$${++count}`)
  const prepared = { name: `text-${hash('sha256', text, 'hex').slice(0, 32)}`, text: numbered }
  texts.set(text, prepared)
  return prepared
}

function rethrow(error: unknown): never {
  throw asUnavailable(error)
}
