import type { Knex } from 'knex'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import type { Project } from '../projects/store.ts'
import { setStatements } from '../statements/statement-store.ts'

/** Decides whether the days of a project are stated in the transparency log, from today on. */
export async function enableStatements(
  db: Knex,
  actor: Actor,
  { project, isWanted }: { project: Project; isWanted: boolean },
): Promise<void> {
  await transaction(db, async (tx) => {
    if (!(await setStatements(tx, project.id, isWanted))) return
    await insertActorAudit(tx, actor, {
      organisationId: project.organisationId,
      action: 'project.statements',
      target: isWanted ? 'on' : 'off',
    })
  })
}
