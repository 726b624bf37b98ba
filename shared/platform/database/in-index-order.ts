import type { Knex } from 'knex'
import { execute } from './sql.ts'

/** Statistics describe a queue index as almost empty, so PostgreSQL may sort all pending rows for each page. */
export async function inIndexOrder<Claimed>(tx: Knex, claim: () => Promise<Claimed>): Promise<Claimed> {
  await execute(tx, 'SET LOCAL enable_sort = off')
  const claimed = await claim() // after an error the transaction ends, and the setting with it
  await execute(tx, 'SET LOCAL enable_sort = on')
  return claimed
}
