import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { findStatusPage, type StatusPage, saveStatusPage } from '../pages/status-page-store.ts'
import type { Project } from '../projects/store.ts'

/** Publishes the status page of a project, or changes the one there is: its address stays. */
export async function publishStatusPage(
  db: Knex,
  actor: Actor,
  { project, ...shown }: { project: Project } & Pick<StatusPage, 'title' | 'tags' | 'intro' | 'isGrouped'>,
): Promise<void> {
  await transaction(db, async (tx) => {
    const known = await findStatusPage(tx, project.id)
    const token = known?.token ?? randomBytes(16).toString('base64url')
    await saveStatusPage(tx, { projectId: project.id, token, ...shown })
    const { organisationId, name } = project
    await insertActorAudit(tx, actor, { organisationId, action: 'status-page.published', target: name })
  })
}
