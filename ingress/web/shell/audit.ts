import type { Knex } from 'knex'
import { acrossTenants } from '#shared/platform/database/tenant.ts'
import { describeError } from '#shared/platform/process/log.ts'
import { insertAccountAudit, insertAudit } from '#shared/tenancy/accounts/audit-store.ts'
import type { Session } from '#shared/tenancy/accounts/session-store.ts'
import { type Actor, auditedActor } from '#shared/tenancy/actor.ts'
import type { Context } from './context.ts'

export function personOf({ address }: Context, { userId, email }: Session): Actor {
  return { kind: 'person', userId, email, address }
}

/** @param organisationId null for an action that concerns only the account */
export async function audit(
  context: Context,
  organisationId: number | null,
  action: string,
  target = '',
  db: Knex = context.deps.db,
): Promise<void> {
  const { session, address } = context
  const actor = session ? auditedActor(personOf(context, session)) : { userId: null, actor: 'visitor', address }
  await insertAudit(db, { ...actor, organisationId, action, target })
}

/**
 * Records a sign-in or sign-out in each organisation of the user. If that fails, the sign-in or sign-out still
 * succeeds.
 */
export async function auditAccount(
  { deps, address }: Context,
  person: { id: number; email: string },
  action: 'sign-in.succeeded' | 'sign-in.failed' | 'sign-out' | 'recovery-code.used',
): Promise<void> {
  const entry = { userId: person.id, actor: person.email, action, address }
  await acrossTenants(() => insertAccountAudit(deps.db, entry)).catch((error: unknown) => {
    deps.log.warn(describeError(error), 'audit.not-written')
  })
}
