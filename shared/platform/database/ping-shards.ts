import type { Knex } from 'knex'
import { execute, query } from './sql.ts'

/** How many ping queues the installation uses. */
export interface PingShards {
  shards: number
  /** how many it ever used: queues beyond `shards` may still be there */
  most: number
  setBy: string
}

/**
 * The number in use. The first process of an installation that asks makes its own the one.
 * @param own PING_SHARDS of this process
 */
export async function agreeOnShards(db: Knex, own: number): Promise<PingShards> {
  const known = await shardsInUse(db)
  if (known) return known
  await execute(
    db,
    "INSERT INTO ping_shards (shards, most, set_by) VALUES (?, ?, 'first start') ON CONFLICT DO NOTHING",
    [own, own],
  )
  return (await shardsInUse(db)) ?? { shards: own, most: own, setBy: 'first start' }
}

/** @returns null while no process has ever taken part */
export async function shardsInUse(db: Knex): Promise<PingShards | null> {
  const [row] = await query<PingShards>(db, 'SELECT shards, most, set_by AS "setBy" FROM ping_shards', [])
  return row ?? null
}

/** Sets the number in use; who differs stops taking part within seconds. */
export async function setShards(db: Knex, shards: number, setBy: string): Promise<void> {
  await execute(
    db,
    `INSERT INTO ping_shards (shards, most, set_by) VALUES (?, ?, ?)
     ON CONFLICT (only_row) DO UPDATE SET shards = EXCLUDED.shards, set_by = EXCLUDED.set_by, set_at = now(),
       most = greatest(ping_shards.most, EXCLUDED.most)`,
    [shards, shards, setBy],
  )
}
