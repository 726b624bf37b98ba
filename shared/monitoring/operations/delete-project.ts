import type { Knex } from 'knex'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { deleteProject as deleteRows } from '../projects/changes-store.ts'
import type { Project } from '../projects/store.ts'
import type { OperationDeps } from './deps.ts'

/** Deletes a project with its checks, their logs, its integrations and its keys, at once and for good. */
export async function deleteProject(
  db: Knex,
  actor: Actor,
  project: Project,
  deps: Pick<OperationDeps, 'announce'>,
): Promise<void> {
  await transaction(db, async (tx) => {
    await deleteRows(tx, project.id)
    const { organisationId, name } = project
    await insertActorAudit(tx, actor, { organisationId, action: 'project.deleted', target: name })
  })
  deps.announce({ kind: 'project', projectId: project.id })
}
