import type { Knex } from 'knex'

/**
 * Keeps everybody else from a table until `release`, or until the scope ends, however it ends: a pool does not close
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
