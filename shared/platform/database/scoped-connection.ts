import { PIPELINE_ROLE } from './row-security.ts'
import { type Pooler, PoolerError, sessionSettings } from './server.ts'
import { currentTenant, type Tenant } from './tenant.ts'

/** A client of the driver: its own connection, and that one's socket. */
export interface SocketHolder {
  connection?: { stream?: { destroy(): void } }
}

/** A pooled connection of the driver, with what we know of its session. */
export interface ScopedConnection {
  query(text: string): Promise<{ rowCount: number | null; rows: unknown[] }>
  /** whether its login is bound by row security and so can be narrowed to a tenant */
  isBound?: boolean
  /** whether the next transaction may find itself in another session, which knows no statement by name */
  isShared?: boolean
  /** how the transaction under way began; absent outside of one */
  transaction?: 'pipeline' | 'tenant' | undefined
}

/** A statement as knex hands it to the driver; `response` is what it reads afterwards. */
export interface KnexQuery {
  sql?: string
  response?: unknown
}

/** Whether the login is a member of the pipeline's role and owns no table: such a login sees no row by itself. */
const NEEDS_ROLE = `EXISTS (
  SELECT FROM pg_roles AS login
  WHERE login.rolname = session_user AND NOT login.rolsuper
    AND EXISTS (SELECT FROM pg_auth_members JOIN pg_roles AS role ON role.oid = roleid
                WHERE member = login.oid AND role.rolname = '${PIPELINE_ROLE}')
    AND NOT EXISTS (SELECT FROM pg_class
                    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relowner = login.oid))`

interface Session {
  role: string
  needsRole: boolean
  /** `0` is none */
  deadline: string
}

/**
 * Gives a new session its deadlines and the pipeline's role, where row security binds its login. Another login (a
 * superuser on a developer's machine) stays as it is. Where sessions are shared, both belong to the login (`migrate`),
 * and nothing may be set here: it would stay with a session of somebody else.
 * @throws PoolerError when what was set does not hold
 */
export async function beginSession(connection: ScopedConnection, pooler: Pooler, timeoutMs: number): Promise<void> {
  connection.isShared = pooler === 'transaction'
  if (pooler === 'session') {
    const wanted = Object.entries(sessionSettings(timeoutMs)).map(
      ([name, value]) => `set_config('${name}', '${value}', false)`,
    )
    await connection.query(`SELECT ${wanted.join(', ')}`)
  }
  if (!connection.isShared) {
    await connection.query(`SELECT set_config('role', '${PIPELINE_ROLE}', false) WHERE ${NEEDS_ROLE}`)
  }
  const { rows } = await connection.query(
    `SELECT current_user AS role, ${NEEDS_ROLE} AS "needsRole", current_setting('statement_timeout') AS deadline`,
  )
  // The statement's own text decides what its rows are.
  const [session] = rows as Session[]
  connection.isBound = session?.needsRole === true
  if (session?.deadline !== '0' && (!connection.isBound || session?.role === PIPELINE_ROLE)) return
  throw new PoolerError(
    connection.isShared
      ? 'sessions behind the pooler lack deadlines or role: npm run -s migrate with DATABASE_POOLER=transaction, then RECONNECT the pooler'
      : 'a pooler drops what is set for a session: DATABASE_POOLER must say what it keeps',
  )
}

/**
 * Runs a statement of knex. For a tenant's request the transaction, or one made around a statement outside of any, gives
 * up the pipeline's role and says whose rows it may touch. Both end with the transaction, however it ends, so the next
 * one to have the connection inherits nothing.
 */
export async function runScoped(
  connection: ScopedConnection,
  query: KnexQuery,
  run: () => Promise<unknown>,
): Promise<unknown> {
  if (!connection.isBound) return await run()
  const tenant = currentTenant()
  const verb = /^(BEGIN|COMMIT|ROLLBACK)( TO)?/.exec(query.sql ?? '')
  if (verb?.[1] === 'BEGIN') {
    if (tenant === undefined) await run()
    else query.response = await connection.query(beginAs(tenant))
    connection.transaction = tenant === undefined ? 'pipeline' : 'tenant'
    return query
  }
  if (verb !== null && verb[2] === undefined) {
    connection.transaction = undefined
    return await run()
  }
  if (connection.transaction === 'tenant' && tenant === undefined) return await widened(connection, run)
  if (connection.transaction !== undefined || tenant === undefined) return await run()
  await connection.query(beginAs(tenant))
  try {
    const result = await run()
    await connection.query('COMMIT')
    return result
  } catch (error) {
    await connection.query('ROLLBACK').catch(() => undefined) // of the two errors the first says more
    throw error
  }
}

/** One statement that crosses tenants in the middle of a tenant's transaction. */
async function widened(connection: ScopedConnection, run: () => Promise<unknown>): Promise<unknown> {
  await connection.query(`SET LOCAL ROLE ${PIPELINE_ROLE}`)
  try {
    return await run()
  } finally {
    // In a transaction that has failed this fails too, and the rollback takes the role back.
    await connection.query('SET LOCAL ROLE NONE').catch(() => undefined)
  }
}

/** Ids are numbers, so they may stand in the text: several statements in one go take no parameters. */
function beginAs({ organisationId, projectId }: Tenant): string {
  return `BEGIN; SET LOCAL ROLE NONE; SET LOCAL signalbox.organisation_id = '${idText(organisationId)}'; SET LOCAL signalbox.project_id = '${idText(projectId)}'`
}

function idText(id: number | undefined): string {
  if (id === undefined) return ''
  if (!Number.isSafeInteger(id)) throw new Error('a tenant has a whole number as its id')
  return String(id)
}
