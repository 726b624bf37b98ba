import type { Knex } from 'knex'
import { execute } from './sql.ts'

/**
 * Runs statements of a transaction that claim a page out of many rows, in the order of an index. Left to itself PostgreSQL
 * may read all that wait and sort them, for each page: of an index of what is to be done the statistics say what they
 * happened to see last, which is mostly that it is empty.
 */
export async function inIndexOrder<Claimed>(tx: Knex, claim: () => Promise<Claimed>): Promise<Claimed> {
  await execute(tx, 'SET LOCAL enable_sort = off')
  const claimed = await claim() // should it fail, the transaction ends, and the setting with it
  await execute(tx, 'SET LOCAL enable_sort = on')
  return claimed
}
