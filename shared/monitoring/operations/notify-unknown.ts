import type { Knex } from 'knex'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { setNotifyUnknown } from '../projects/changes-store.ts'
import type { Project } from '../projects/store.ts'

/** Decides whether a project's integrations hear of checks that a gap of ours made unknown. */
export async function notifyUnknown(
  db: Knex,
  actor: Actor,
  { project, isWanted }: { project: Project; isWanted: boolean },
): Promise<void> {
  await transaction(db, async (tx) => {
    await setNotifyUnknown(tx, project.id, isWanted)
    await insertActorAudit(tx, actor, {
      organisationId: project.organisationId,
      action: 'project.unknown-notices',
      target: isWanted ? 'on' : 'off',
    })
  })
}
