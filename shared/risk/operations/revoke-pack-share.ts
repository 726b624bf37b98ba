import type { Knex } from 'knex'
import { NotFoundError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { isUuid } from '../../uuid.ts'
import { revokeShare } from '../risk-console/store.ts'

/** Ends a link to a pack of the organisation for good. @throws NotFoundError when the pack has no such live link */
export async function revokePackShare(
  db: Knex,
  actor: Actor,
  { organisationId, packId, shareId }: { organisationId: number; packId: string; shareId: string },
): Promise<void> {
  await transaction(db, async (tx) => {
    const isRevoked = isUuid(shareId) && (await revokeShare(tx, packId, shareId))
    if (!isRevoked) throw new NotFoundError('There is no such link.')
    await insertActorAudit(tx, actor, { organisationId, action: 'pack.share-revoked', target: packId })
  })
}
