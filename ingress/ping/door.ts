import type { Knex } from 'knex'
import { findChecksBySlug, findChecksByUuid } from '#shared/pings/lookup-store.ts'
import type { Secrets } from '#shared/platform/secrets.ts'
import type { IngressDeps } from '../deps.ts'
import { type Batcher, createBatcher } from './batcher.ts'
import { type CheckCache, createCheckCache, type SlugMatch } from './check-cache.ts'
import { createPingHandler, type PingHandler } from './handler.ts'

export interface PingDoor extends AsyncDisposable {
  handle: PingHandler
  cache: CheckCache
  batcher: Batcher
}

/** The ping path of one process: cache, batcher and handler. Closing it waits for what it accepted. */
export function openPingDoor(deps: IngressDeps): PingDoor {
  const cache = createCheckCache({
    byUuid: (uuids) => findChecksByUuid(deps.db, uuids),
    bySlug: (keys) => findBySlug(deps.db, deps.secrets, keys),
  })
  const batcher = createBatcher(deps.broker, { shards: deps.config.pingShards, metrics: deps.metrics })
  return {
    handle: createPingHandler(deps, { cache, batcher }),
    cache,
    batcher,
    [Symbol.asyncDispose]: () => batcher.drain(),
  }
}

/** A key may be digested under the present secret or the one before it. */
async function findBySlug(db: Knex, secrets: Secrets, keys: readonly string[]): Promise<Map<string, SlugMatch>> {
  const pairs = keys.flatMap((key) => {
    const separator = key.indexOf('/')
    const slug = key.slice(separator + 1)
    return secrets.digests(key.slice(0, separator)).map((digest) => ({ key, digest, slug }))
  })
  const found = await findChecksBySlug(db, pairs)
  const matches = new Map<string, SlugMatch>()
  for (const [index, { key }] of pairs.entries()) {
    const checks = found.get(index) ?? []
    const [check] = checks
    if (check) matches.set(key, checks.length > 1 ? 'ambiguous' : check)
  }
  return matches
}
