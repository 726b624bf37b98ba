import type { Knex } from 'knex'
import { columns, query, typed } from '../../platform/database/sql.ts'
import type { Role } from '../../tenancy/accounts/roles.ts'
import type { Project } from './store.ts'

export interface MemberProject extends Project {
  organisationUuid: string
  organisationName: string
  role: Role
}

const MEMBER_PROJECT_COLUMNS = columns<MemberProject>()(`
  p.id, p.uuid, p.organisation_id, p.name, p.badge_key, p.check_limit, o.uuid AS organisationUuid,
  o.name AS organisationName, m.role`)

export async function listProjectsOf(db: Knex, userId: number): Promise<MemberProject[]> {
  return await query(
    db,
    typed`SELECT ${MEMBER_PROJECT_COLUMNS}
     FROM memberships m JOIN organisations o ON o.id = m.organisation_id JOIN projects p ON p.organisation_id = o.id
     WHERE m.user_id = ? ORDER BY o.name, o.id, p.name, p.id`,
    [userId],
  )
}
