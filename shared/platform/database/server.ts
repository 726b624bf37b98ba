import type { Knex } from 'knex'
import type { Micros } from '../../time.ts'
import { microsOf } from './instants.ts'
import { query } from './sql.ts'

/** Throws what the driver throws when the server does not answer. */
export async function pingServer(db: Knex): Promise<void> {
  await query(db, 'SELECT 1')
}

/** Returns whether the login of the connection is bound by no policy: a superuser, or a role with BYPASSRLS. */
export async function bypassesRowSecurity(db: Knex): Promise<boolean> {
  const [row] = await query<{ bypasses: boolean }>(
    db,
    'SELECT rolsuper OR rolbypassrls AS bypasses FROM pg_roles WHERE rolname = session_user',
  )
  return row?.bypasses ?? false
}

/** The server's time at this moment, which goes on inside a transaction too. */
export async function readServerClock(db: Knex): Promise<Micros> {
  const [row] = await query<{ now: Micros }>(db, `SELECT ${microsOf('clock_timestamp()')} AS now`)
  if (!row) throw new Error('the database did not tell its time')
  return row.now
}

/** Version as the server counts (150004 is 15.4), and the role that the connection has taken. */
export async function describeServer(db: Knex): Promise<{ version: number; role: string }> {
  const [row] = await query<{ version: number; role: string }>(
    db,
    `SELECT current_setting('server_version_num')::int AS version, current_user AS role`,
  )
  if (!row) throw new Error('the database did not tell its version')
  return row
}
