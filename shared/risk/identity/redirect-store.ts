import type { Knex } from 'knex'
import type { Owner } from '../../jobs/job.ts'
import { execute, query } from '../../platform/database/sql.ts'

export async function isRegisteredRedirect(db: Knex, owner: Owner, uri: string): Promise<boolean> {
  const rows = await query(
    db,
    'SELECT 1 FROM presentation_redirects WHERE organisation_id = ? AND env = ? AND uri = ?',
    [owner.organisationId, owner.env, uri],
  )
  return rows.length > 0
}

export async function insertRedirect(tx: Knex, owner: Owner, uri: string): Promise<void> {
  await execute(
    tx,
    'INSERT INTO presentation_redirects (organisation_id, env, uri) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    [owner.organisationId, owner.env, uri],
  )
}
