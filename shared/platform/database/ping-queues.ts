import type { Knex } from 'knex'
import { queuesOf } from '../../contracts/ping-generations.ts'
import { liveGenerations, shardsInUse } from './ping-shards.ts'

/**
 * Numbers of the ping queues in use, for who looks at an installation from outside.
 * @param own PING_SHARDS: what a new installation will have, and what is taken for true where the database does not answer
 */
export async function pingQueuesInUse(db: Knex, own: number): Promise<number[]> {
  const live = await liveGenerations(db).catch(() => [])
  return (live.length > 0 ? live : [{ generation: 0, shards: own }]).flatMap(queuesOf)
}

/** The same with those that a larger number left behind before there were generations. */
export async function pingQueuesEver(db: Knex, own: number): Promise<number[]> {
  const inUse = await pingQueuesInUse(db, own)
  const most = (await shardsInUse(db).catch(() => null))?.most ?? 0
  return [...new Set([...inUse, ...Array.from({ length: most }, (_, shard) => shard)])]
}
