import type { Knex } from 'knex'
import { query } from '../../platform/database/sql.ts'
import type { Role } from '../../tenancy/accounts/roles.ts'
import type { Project } from './store.ts'

/** A project as a member of its organisation sees it. */
export interface MemberProject extends Project {
  organisationUuid: string
  organisationName: string
  role: Role
}

/** Every project that a person may see: through membership, and in no other way. */
export async function listProjectsOf(db: Knex, userId: number): Promise<MemberProject[]> {
  return await query<MemberProject>(
    db,
    `SELECT p.id, p.uuid, p.organisation_id AS "organisationId", p.name, p.badge_key AS "badgeKey",
            p.check_limit AS "checkLimit", o.uuid AS "organisationUuid", o.name AS "organisationName", m.role
     FROM memberships m JOIN organisations o ON o.id = m.organisation_id JOIN projects p ON p.organisation_id = o.id
     WHERE m.user_id = ? ORDER BY o.name, o.id, p.name, p.id`,
    [userId],
  )
}
