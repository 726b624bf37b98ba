import type { Knex } from 'knex'
import { transaction } from '../../platform/database/db.ts'
import type { Actor } from '../../tenancy/actor.ts'
import type { Check } from '../checks/check.ts'
import { toggleAssignment } from '../pages/integration-store.ts'
import type { Project } from '../projects/store.ts'
import { auditCheck } from './check-changes.ts'

/** Assigns an integration of the project to a check, or takes it away; one that is not the project's changes nothing. */
export async function toggleIntegration(
  db: Knex,
  actor: Actor,
  { project, check, integrationUuid }: { project: Project; check: Check; integrationUuid: string },
): Promise<void> {
  await transaction(db, async (tx) => {
    await toggleAssignment(tx, check.id, project.id, integrationUuid)
    await auditCheck(tx, actor, project, 'check.integrations-changed', check)
  })
}
