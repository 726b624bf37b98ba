import type { Knex } from 'knex'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../accounts/audit-store.ts'
import type { Actor } from '../actor.ts'
import type { Family } from '../oauth/families.ts'
import { grantFamilies, revokeFamilies } from '../organisations/store.ts'

/** Entitles an organisation to a family of the API, or ends that for all its clients within seconds. */
export async function changeFamily(
  db: Knex,
  actor: Actor,
  { organisationId, family, isGranted }: { organisationId: number; family: Family; isGranted: boolean },
): Promise<void> {
  await transaction(db, async (tx) => {
    await (isGranted ? grantFamilies : revokeFamilies)(tx, organisationId, [family])
    const action = isGranted ? 'family.granted' : 'family.revoked'
    await insertActorAudit(tx, actor, { organisationId, action, target: family })
  })
}
