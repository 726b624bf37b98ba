import type { Knex } from 'knex'
import { batched } from '../process/batch.ts'

/** More than a process has listeners and workers with heartbeats. */
const MAX_GATHERED = 100

/**
 * Stores what the parts of a process report at about the same moment in one statement. If the statement fails, all of
 * them fail.
 * @param gatherMs longer than the reports of one moment lie apart
 */
export function gathered<Item>(
  gatherMs: number,
  store: (db: Knex, items: readonly Item[]) => Promise<void>,
): (db: Knex, item: Item) => Promise<void> {
  const perPool = new WeakMap<Knex, (item: Item) => Promise<true>>()
  const start = (run: () => void) => void setTimeout(run, gatherMs)

  function gatherFor(db: Knex): (item: Item) => Promise<true> {
    const work = async (items: readonly Item[]) => {
      await store(db, items)
      return items.map(() => true as const)
    }
    const gather = batched(work, { largest: MAX_GATHERED, start })
    perPool.set(db, gather)
    return gather
  }

  return async (db, item) => {
    const gather = perPool.get(db) ?? gatherFor(db)
    await gather(item)
  }
}
