import type { Knex } from 'knex'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { deleteStatusPage } from '../pages/status-page-store.ts'
import type { Project } from '../projects/store.ts'

/** Takes the status page of a project down; its address leads nowhere from then on. */
export async function removeStatusPage(db: Knex, actor: Actor, project: Project): Promise<void> {
  await transaction(db, async (tx) => {
    await deleteStatusPage(tx, project.id)
    const { organisationId, name } = project
    await insertActorAudit(tx, actor, { organisationId, action: 'status-page.removed', target: name })
  })
}
