import type { Knex } from 'knex'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { renameProject as renameRow } from '../projects/changes-store.ts'
import type { Project } from '../projects/store.ts'
import type { OperationDeps } from './deps.ts'

/** Gives a project another name; its keys and addresses stay. */
export async function renameProject(
  db: Knex,
  actor: Actor,
  { project, name }: { project: Project; name: string },
  deps: Pick<OperationDeps, 'announce'>,
): Promise<void> {
  await transaction(db, async (tx) => {
    await renameRow(tx, project.id, name)
    const { organisationId } = project
    await insertActorAudit(tx, actor, {
      organisationId,
      action: 'project.renamed',
      target: `${project.name} to ${name}`,
    })
  })
  deps.announce({ kind: 'project', projectId: project.id })
}
