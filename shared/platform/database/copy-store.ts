import type { Knex } from 'knex'
import { execute, query } from './sql.ts'

/** Runs `work` in a repeatable-read transaction. Other connections read the same state by the snapshot's name. */
export async function exportSnapshot<T>(db: Knex, work: (tx: Knex, snapshot: string) => Promise<T>): Promise<T> {
  return await db.transaction(
    async (tx) => {
      await execute(tx, 'SET LOCAL idle_in_transaction_session_timeout = 0')
      await execute(tx, 'SET LOCAL statement_timeout = 0')
      const [row] = await query<{ snapshot: string }>(tx, 'SELECT pg_export_snapshot() AS snapshot')
      return await work(tx, row?.snapshot ?? '')
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  )
}

/** @param name chosen by us: letters, digits and underscores only, because it is not escaped */
export async function createDatabase(db: Knex, name: string): Promise<void> {
  await execute(db, `CREATE DATABASE "${name}" TEMPLATE template0`, [])
}

export async function dropDatabase(db: Knex, name: string): Promise<void> {
  await execute(db, `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`, [])
}
