import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { anchorObject, anchorObjects } from '../../transparency/anchoring/store.ts'

/** With a random id, without personal data or amounts (docs/spec/risk-signals.md#anchored-objects). */
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

/** Returns objects in the order of `facts`. */
export async function anchorRecords<Facts extends object>(
  tx: Knex,
  env: ApiEnv,
  eventType: string,
  timestamp: string,
  facts: readonly Facts[],
) {
  const objects = facts.map((each) => ({ ...each, eventType, timestamp }))
  const anchors = await anchorObjects(tx, env, eventType, timestamp, objects)
  return objects.flatMap((object, index) => {
    const anchor = anchors[index]
    return anchor ? [{ ...object, anchor }] : []
  })
}
