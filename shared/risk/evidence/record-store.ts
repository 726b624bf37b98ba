import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { anchorObject } from '../../transparency/anchoring/store.ts'

/**
 * Anchors an object in the transaction of its effect and gives it as it is shown: with its type, its time and its
 * anchor. It holds a random id, and never names, addresses, personal numbers or amounts (families 0.2).
 * @param timestamp ISO 8601 UTC with milliseconds
 */
export async function anchorRecord<Facts extends object>(
  tx: Knex,
  env: ApiEnv,
  eventType: string,
  timestamp: string,
  facts: Facts,
) {
  const object = { ...facts, eventType, timestamp }
  return { ...object, anchor: await anchorObject(tx, env, eventType, timestamp, object) }
}
