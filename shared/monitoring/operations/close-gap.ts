import type { Knex } from 'knex'
import { ConflictError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { type Micros, toIsoSeconds } from '../../time.ts'
import { openGaps } from '../availability/gap-list-store.ts'
import { closeListener } from '../availability/proof-store.ts'

/**
 * Gives up a door that has ended for good: its gap ends now, and checks that depend on it are judged from then on.
 * @returns since when it was missed
 * @throws ConflictError when it takes pings, or when no other door does: then every check would go down
 */
export async function closeGap(db: Knex, listener: 'http' | 'smtp'): Promise<Micros> {
  return await transaction(db, async (tx) => {
    const open = await openGaps(tx)
    const gap = open.find((one) => one.listener === listener)
    if (!gap) throw new ConflictError(`${listener} takes pings: there is no gap to close`)
    const other = open.find((one) => one.listener !== listener)
    if (other) {
      throw new ConflictError(
        `${other.listener} takes no pings either, since ${toIsoSeconds(other.from)}: start it first`,
      )
    }
    await closeListener(tx, listener)
    return gap.from
  })
}
