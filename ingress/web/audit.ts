import type { Knex } from 'knex'
import { insertAudit } from '#shared/accounts/audit-store.ts'
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
