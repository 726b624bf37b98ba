import type { Knex } from 'knex'
import { ForbiddenError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../accounts/audit-store.ts'
import { lockOrganisation } from '../accounts/store.ts'
import type { Actor } from '../actor.ts'
import type { Family } from '../oauth/families.ts'
import {
  grantFamilies,
  listWithheldFamilies,
  releaseFamilies,
  revokeFamilies,
  withholdFamilies,
} from '../organisations/store.ts'

/**
 * Entitles an organisation to families of the API, or ends that for all its clients within seconds. A family that the
 * operator revoked can be granted again by the operator only.
 * @throws ForbiddenError when another actor grants a withheld family
 */
export async function changeFamilies(
  db: Knex,
  actor: Actor,
  { organisationId, families, isGranted }: { organisationId: number; families: readonly Family[]; isGranted: boolean },
): Promise<void> {
  await transaction(db, async (tx) => {
    await lockOrganisation(tx, organisationId)
    if (actor.kind === 'operator') {
      await (isGranted ? releaseFamilies : withholdFamilies)(tx, organisationId, families)
    } else if (isGranted) {
      const withheld = await listWithheldFamilies(tx, organisationId)
      const refused = families.filter((family) => withheld.includes(family))
      if (refused.length > 0) {
        throw new ForbiddenError(
          `The operator of this installation revoked ${refused.join(', ')}. Ask them to restore it.`,
        )
      }
    }
    await (isGranted ? grantFamilies : revokeFamilies)(tx, organisationId, families)
    const action = isGranted ? 'family.granted' : 'family.revoked'
    for (const target of families) await insertActorAudit(tx, actor, { organisationId, action, target })
  })
}
