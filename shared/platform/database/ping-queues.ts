import type { Knex } from 'knex'
import { queuesOf } from '../../contracts/ping-generations.ts'
import { liveGenerations } from './ping-shards.ts'

/**
 * Numbers of the ping queues in use, for who looks at an installation from outside.
 * @param own PING_SHARDS: what a new installation will have, and what is taken for true where the database does not answer
 */
export async function pingQueuesInUse(db: Knex, own: number): Promise<number[]> {
  const live = await liveGenerations(db).catch(() => [])
  return (live.length > 0 ? live : [{ generation: 0, shards: own }]).flatMap(queuesOf)
}
