import type { Knex } from 'knex'
import { createCover } from '#shared/monitoring/beats/cover.ts'
import type { ListenerKind } from '#shared/monitoring/beats/store.ts'
import { findChecksBySlug, findChecksByUuid } from '#shared/monitoring/pings/lookup-store.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import type { IngressDeps } from '../deps.ts'
import { type Batcher, createBatcher } from './batcher.ts'
import { type Beat, openBeat } from './beat.ts'
import { type CheckCache, createCheckCache, type SlugMatch } from './check-cache.ts'
import { createPingHandler, type PingHandler } from './handler.ts'
import { openPingUses, type PingUses } from './uses.ts'

export interface PingListener extends AsyncDisposable {
  handle: PingHandler
  cache: CheckCache
  batcher: Batcher
  uses: PingUses
  beat: Beat
}

/** The ping path of one process: cache, batcher, handler and beat. Closing it waits for what it accepted. */
export function openPingListener(deps: IngressDeps, kind: ListenerKind): PingListener {
  const cache = createCheckCache(
    {
      byUuid: (uuids) => findChecksByUuid(deps.db, uuids),
      bySlug: (keys) => findBySlug(deps.db, deps.secrets, keys),
    },
    deps.config.checkCacheSeconds * 1000,
  )
  const { pingShards, publishTimeoutMs } = deps.config
  const cover = createCover(publishTimeoutMs)
  const batcher = createBatcher(deps.broker, {
    shards: pingShards,
    metrics: deps.metrics,
    problems: deps.installation.problems,
    mayAnswer: cover.mayAnswer,
  })
  const beat = openBeat(deps, kind, { cover, oldest: batcher.oldest })
  const uses = openPingUses(deps)
  return {
    handle: createPingHandler(deps, { cache, batcher, beat, uses }),
    cache,
    batcher,
    beat,
    uses,
    async [Symbol.asyncDispose]() {
      await batcher.drain()
      await beat[Symbol.asyncDispose]()
      await uses[Symbol.asyncDispose]()
    },
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
