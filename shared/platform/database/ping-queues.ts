import type { Knex } from 'knex'
import { queuesOf } from '../../contracts/ping-generations.ts'
import { liveGenerations } from './ping-shards.ts'

/** `own` is PING_SHARDS, which is used before the first start and without a database. */
export async function pingQueuesInUse(db: Knex, own: number): Promise<number[]> {
  const live = await liveGenerations(db).catch(() => [])
  return (live.length > 0 ? live : [{ generation: 0, shards: own }]).flatMap(queuesOf)
}
