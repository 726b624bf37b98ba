import type { Knex } from 'knex'
import { acrossTenants } from '#shared/platform/database/tenant.ts'
import { describeError } from '#shared/platform/process/log.ts'
import { insertAccountAudit, insertAudit } from '#shared/tenancy/accounts/audit-store.ts'
import type { Context } from './context.ts'

/** Notes what the signed-in person did. @param organisationId null for what concerns their account alone */
export async function audit(
  context: Context,
  organisationId: number | null,
  action: string,
  target = '',
  db: Knex = context.deps.db,
): Promise<void> {
  const { session, address } = context
  await insertAudit(db, {
    organisationId,
    userId: session?.userId ?? null,
    actor: session?.email ?? 'visitor',
    action,
    target,
    address,
  })
}

/**
 * Notes how somebody came in or went, in the log of each organisation that they belong to. Nobody stays outside, or in,
 * because it cannot be written.
 */
export async function auditAccount(
  { deps, address }: Context,
  person: { id: number; email: string },
  action: 'sign-in.succeeded' | 'sign-in.failed' | 'sign-out',
): Promise<void> {
  const entry = { userId: person.id, actor: person.email, action, address }
  await acrossTenants(() => insertAccountAudit(deps.db, entry)).catch((error: unknown) => {
    deps.log.warn(describeError(error), 'audit.not-written')
  })
}
