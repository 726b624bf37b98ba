import type { Knex } from 'knex'
import { NotFoundError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { deleteIntegrationRow, type StoredIntegration } from '../integrations/store.ts'
import type { Project } from '../projects/store.ts'

/** Deletes an integration; its checks keep their other ones. @throws NotFoundError when somebody else has deleted it */
export async function deleteIntegration(
  db: Knex,
  actor: Actor,
  { project, channel }: { project: Project; channel: StoredIntegration },
): Promise<void> {
  await transaction(db, async (tx) => {
    if (!(await deleteIntegrationRow(tx, project.id, channel.uuid))) throw new NotFoundError('The integration is gone.')
    const { organisationId } = project
    const target = channel.name || channel.kind
    await insertActorAudit(tx, actor, { organisationId, action: 'integration.deleted', target })
  })
}
