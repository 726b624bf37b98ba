import type { Knex } from 'knex'

/**
 * Locks a table against all other sessions until `release`, or until the scope ends in any way. A pool does not close
 * before its open transactions, so a failed assertion would otherwise look like a test that hangs.
 */
export async function lockTable(db: Knex, table: string): Promise<AsyncDisposable & { release(): Promise<void> }> {
  const held = await db.transaction()
  const release = async () => {
    if (!held.isCompleted()) await held.rollback()
  }
  await held.raw('LOCK TABLE ?? IN ACCESS EXCLUSIVE MODE', [table])
  return { release, [Symbol.asyncDispose]: release }
}
