import type { Knex } from 'knex'
import { LRUCache } from 'lru-cache'
import { type ClientRecord, findClient } from '#shared/tenancy/oauth/store.ts'

export interface ClientDirectory {
  /** @returns undefined if the client does not exist; at most 5 s old */
  find(clientId: string): Promise<ClientRecord | undefined>
}

/** Maximum time until a removed entitlement or a disabled client takes effect. */
const MAX_AGE_MS = 5_000

export function createClientDirectory(db: Knex): ClientDirectory {
  const cache = new LRUCache<string, ClientRecord>({ max: 10_000, ttl: MAX_AGE_MS })
  return {
    async find(clientId) {
      const known = cache.get(clientId)
      if (known) return known
      const client = await findClient(db, clientId)
      if (client) cache.set(clientId, client)
      return client
    },
  }
}
