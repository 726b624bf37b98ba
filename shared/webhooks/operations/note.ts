import type { Knex } from 'knex'
import { insertAudit } from '../../tenancy/accounts/audit-store.ts'
import { type Actor, auditedActor } from '../../tenancy/actor.ts'

export async function note(
  tx: Knex,
  actor: Actor,
  organisationId: number,
  action: `webhook.${string}`,
  target: string,
): Promise<void> {
  await insertAudit(tx, { ...auditedActor(actor), organisationId, action, target })
}
