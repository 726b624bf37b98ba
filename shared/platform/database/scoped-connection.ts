import { PIPELINE_ROLE } from './row-security.ts'
import { type Pooler, PoolerError, sessionSettings } from './server.ts'
import { currentTenant, type Tenant } from './tenant.ts'

export interface SocketHolder {
  connection?: { stream?: { destroy(): void } }
}

export interface ScopedConnection {
  query(text: string): Promise<{ rowCount: number | null; rows: unknown[] }>
  /** true if row security applies to the login, so that queries can be limited to a tenant */
  hasRowSecurity?: boolean
  /** true behind a transaction pooler: each transaction may use another session, so statements are not prepared */
  isShared?: boolean
  /** the mode of the current transaction; absent outside a transaction */
  transaction?: 'pipeline' | 'tenant' | undefined
}

export interface KnexQuery {
  sql?: string
  response?: unknown
}

/** True if row security applies to the login: it is no superuser, owns no table, and sees rows only by the pipeline role. */
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
  deadline: string
}

/**
 * Sets the pipeline role of a new session if row security applies to the login, and its timeouts behind a session
 * pooler. Behind a transaction pooler it sets neither, because other clients may use the session: `migrate` has set
 * both as defaults of the login.
 * @throws PoolerError if the settings have no effect
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
  // The statement text determines the row type.
  const [session] = rows as Session[]
  connection.hasRowSecurity = session?.needsRole === true
  if (session?.deadline !== '0' && (!connection.hasRowSecurity || session?.role === PIPELINE_ROLE)) return
  throw new PoolerError(
    connection.isShared
      ? 'the login behind the pooler has no default statement_timeout or role: run npm run -s migrate with DATABASE_POOLER=transaction, then the command RECONNECT in the console of the pooler'
      : 'settings of the session have no effect, probably because of a pooler: DATABASE_POOLER must be set to its mode',
  )
}

/**
 * Runs a query as the current tenant. Role and tenant are set for the transaction only, so the next user of the
 * connection does not inherit them. A transaction that began without a tenant stays unrestricted.
 */
export async function runScoped(
  connection: ScopedConnection,
  query: KnexQuery,
  run: () => Promise<unknown>,
): Promise<unknown> {
  if (!connection.hasRowSecurity) return await run()
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
  if (connection.transaction === 'tenant' && tenant === undefined) return await runAcrossTenants(connection, run)
  if (connection.transaction !== undefined || tenant === undefined) return await run()
  await connection.query(beginAs(tenant))
  try {
    const result = await run()
    await connection.query('COMMIT')
    return result
  } catch (error) {
    await connection.query('ROLLBACK').catch(() => undefined) // the first of the two errors is more useful
    throw error
  }
}

async function runAcrossTenants(connection: ScopedConnection, run: () => Promise<unknown>): Promise<unknown> {
  await connection.query(`SET LOCAL ROLE ${PIPELINE_ROLE}`)
  try {
    return await run()
  } finally {
    // In a failed transaction this also fails; the rollback resets the role.
    await connection.query('SET LOCAL ROLE NONE').catch(() => undefined)
  }
}

/** Ids are numbers, so inserting them is safe; a multi-statement query accepts no parameters. */
function beginAs({ organisationId, projectId }: Tenant): string {
  return `BEGIN; SET LOCAL ROLE NONE; SET LOCAL signalbox.organisation_id = '${idText(organisationId)}'; SET LOCAL signalbox.project_id = '${idText(projectId)}'`
}

function idText(id: number | undefined): string {
  if (id === undefined) return ''
  if (!Number.isSafeInteger(id)) throw new Error('a tenant has a whole number as its id')
  return String(id)
}
