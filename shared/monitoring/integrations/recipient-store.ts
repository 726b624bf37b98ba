import type { Knex } from 'knex'
import { execute, query } from '../../platform/database/sql.ts'

/** The verified addresses of the members of a project's organisation, in lower case. */
export async function listMemberAddresses(db: Knex, projectId: number): Promise<string[]> {
  const rows = await query<{ email: string }>(
    db,
    `SELECT u.email FROM users u JOIN memberships m ON m.user_id = u.id
     JOIN projects p ON p.organisation_id = m.organisation_id WHERE p.id = ? AND u.email_verified`,
    [projectId],
  )
  return rows.map(({ email }) => email)
}

/** Digests of the addresses whose holders agreed to get the alerts of a project. */
export async function listVerifiedRecipients(db: Knex, projectId: number): Promise<Buffer[]> {
  const rows = await query<{ digest: Buffer }>(db, 'SELECT digest FROM verified_recipients WHERE project_id = ?', [
    projectId,
  ])
  return rows.map(({ digest }) => digest)
}

/** Notes that the holder of an address agreed to get the alerts of a project. */
export async function insertVerifiedRecipient(tx: Knex, projectId: number, digest: Buffer): Promise<void> {
  await execute(tx, 'INSERT INTO verified_recipients (project_id, digest) VALUES (?, ?) ON CONFLICT DO NOTHING', [
    projectId,
    digest,
  ])
}

/** The holder of an address wants no more mails: the next integration with it asks again. */
export async function deleteVerifiedRecipient(tx: Knex, projectId: number, digests: readonly Buffer[]): Promise<void> {
  await execute(tx, 'DELETE FROM verified_recipients WHERE project_id = ? AND digest = ANY(?::bytea[])', [
    projectId,
    digests,
  ])
}
