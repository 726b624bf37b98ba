import { randomBytes, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { transaction } from '../../platform/database/db.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import { type Actor, auditedActor } from '../../tenancy/actor.ts'
import { SHARE_DAYS, shareDigestText } from '../packs/share-token.ts'
import { insertShare } from '../risk-console/store.ts'

/**
 * Makes a link through which anybody sees a finished pack of the organisation.
 * @returns its token, of which only a digest is kept
 */
export async function sharePack(
  db: Knex,
  actor: Actor,
  { organisationId, packId }: { organisationId: number; packId: string },
  { secrets }: { secrets: Pick<Secrets, 'digest'> },
): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  const digest = secrets.digest(shareDigestText(token))
  const { actor: createdBy } = auditedActor(actor)
  await transaction(db, async (tx) => {
    await insertShare(tx, { id: randomUUID(), packId, digest, createdBy, days: SHARE_DAYS })
    await insertActorAudit(tx, actor, { organisationId, action: 'pack.shared', target: packId })
  })
  return token
}
