import type { Knex } from 'knex'
import { acrossTenants } from '#shared/platform/database/tenant.ts'
import { describeError } from '#shared/platform/process/log.ts'
import { insertAccountAudit, insertAudit } from '#shared/tenancy/accounts/audit-store.ts'
import type { Session } from '#shared/tenancy/accounts/session-store.ts'
import { type Actor, auditedActor } from '#shared/tenancy/actor.ts'
import type { Context } from './context.ts'

/** The signed-in person, as operations and the audit log know them. */
export function personOf({ address }: Context, { userId, email }: Session): Actor {
  return { kind: 'person', userId, email, address }
}

/** Notes what the signed-in person did. @param organisationId null for what concerns their account alone */
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
 * Records a sign-in or sign-out in the log of each organisation of the person. A failed write is logged and does not
 * block the sign-in or sign-out.
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
