import type { Knex } from 'knex'
import { NotFoundError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { type Project, revokeProjectKey } from '../projects/store.ts'
import type { OperationDeps } from './deps.ts'

/**
 * Revokes a key of a project; it stops working within seconds.
 * @throws NotFoundError when the project has no such key, or it is revoked
 */
export async function revokeKey(
  db: Knex,
  actor: Actor,
  { project, keyId }: { project: Project; keyId: number },
  deps: Pick<OperationDeps, 'announce'>,
): Promise<void> {
  await transaction(db, async (tx) => {
    const isRevoked = Number.isSafeInteger(keyId) && (await revokeProjectKey(tx, project.id, keyId))
    if (!isRevoked) throw new NotFoundError('There is no such key.')
    const { organisationId, name } = project
    await insertActorAudit(tx, actor, { organisationId, action: 'key.revoked', target: `${name} #${keyId}` })
  })
  deps.announce({ kind: 'project', projectId: project.id })
}
