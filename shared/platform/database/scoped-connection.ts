import { PIPELINE_ROLE } from './row-security.ts'
import { type Pooler, PoolerError, sessionSettings } from './server.ts'
import { currentTenant, type Tenant } from './tenant.ts'

export interface SocketHolder {
  connection?: { stream?: { destroy(): void } }
}

export interface ScopedConnection {
  query(text: string): Promise<{ rowCount: number | null; rows: unknown[] }>
  /** true if row security applies to its login, so that it can be restricted to a tenant */
  isBound?: boolean
  /** true if the next transaction may use another session, without prepared statements */
  isShared?: boolean
  /** the mode of the current transaction; absent outside a transaction */
  transaction?: 'pipeline' | 'tenant' | undefined
}

export interface KnexQuery {
  sql?: string
  response?: unknown
}

/** True if the login is a member of the pipeline role and owns no table: without the role it sees no rows. */
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
 * Without row security the login stays unchanged. Shared sessions get both as defaults of the login (`migrate`); here
 * they would leak into sessions of other clients. @throws PoolerError if the settings have no effect
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
  connection.isBound = session?.needsRole === true
  if (session?.deadline !== '0' && (!connection.isBound || session?.role === PIPELINE_ROLE)) return
  throw new PoolerError(
    connection.isShared
      ? 'sessions behind the pooler lack deadlines or role: npm run -s migrate with DATABASE_POOLER=transaction, then RECONNECT the pooler'
      : 'a pooler drops what is set for a session: DATABASE_POOLER must be set to its mode',
  )
}

/** Role and tenant are reset at the end, so the next user of the connection does not inherit them. */
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
    await connection.query('ROLLBACK').catch(() => undefined) // the first of the two errors is more useful
    throw error
  }
}

async function widened(connection: ScopedConnection, run: () => Promise<unknown>): Promise<unknown> {
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
