import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { NotFoundError } from '../../errors.ts'
import { insertAudit } from '../accounts/audit-store.ts'
import { type Actor, auditedActor } from '../actor.ts'
import { revokeAgentKey as endAgentKey } from '../agents/key-store.ts'

/**
 * Ends an agent key; every listener refuses it within five seconds (docs/spec/evidence-families.md#agent-keys). Doing it again changes nothing.
 * @throws NotFoundError alike for a key that is not there and for another organisation's
 */
export async function revokeAgentKey(
  tx: Knex,
  actor: Actor,
  owner: { organisationId: number; env: ApiEnv },
  keyId: string,
): Promise<void> {
  if (!(await endAgentKey(tx, owner, keyId))) throw new NotFoundError('there is no such agent key')
  const { organisationId } = owner
  await insertAudit(tx, { ...auditedActor(actor), organisationId, action: 'agent-key.revoked', target: keyId })
}
