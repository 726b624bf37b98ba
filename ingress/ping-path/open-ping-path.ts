import type { Knex } from 'knex'
import { openGeneration } from '#shared/contracts/ping-generations.ts'
import { createCover, type ListenerKind } from '#shared/monitoring/availability/heartbeat-store.ts'
import { findChecksBySlug, findChecksByUuid } from '#shared/monitoring/pings/lookup-store.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import type { IngressDeps } from '../deps.ts'
import { Batcher } from './batcher.ts'
import { type CheckCache, createCheckCache, type SlugMatch } from './check-cache.ts'
import { decryptRules } from './decrypt-rules.ts'
import { type Heartbeat, startHeartbeat } from './heartbeat.ts'
import { type Listener, startPingIngress } from './listener-proof.ts'
import { type PingUsage, startPingUses } from './usage-counters.ts'

export interface PingPath extends AsyncDisposable {
  cache: CheckCache
  batcher: Batcher
  uses: PingUsage
  heartbeat: Heartbeat
  listener: Listener
}

export type PingPathDeps = Pick<
  IngressDeps,
  'config' | 'db' | 'healthDb' | 'broker' | 'secrets' | 'log' | 'metrics' | 'installation' | 'clock' | 'now'
>

/** Closing it waits for accepted pings. */
export function openPingPath(deps: PingPathDeps, kind: ListenerKind): PingPath {
  const cache = createCheckCache(
    {
      byUuid: async (uuids) => {
        const found = await findChecksByUuid(deps.db, uuids)
        return new Map([...found].map(([uuid, check]) => [uuid, decryptRules(check, deps.secrets)]))
      },
      bySlug: (keys) => findBySlug(deps.db, deps.secrets, keys),
    },
    deps.config.checkCacheSeconds * 1000,
  )
  const { publishTimeoutMs } = deps.config
  const cover = createCover(publishTimeoutMs)
  const batcher = new Batcher(deps.broker, {
    into: () => openGeneration(deps.installation.generations(), deps.now()),
    metrics: deps.metrics,
    problems: deps.installation.problems,
    mayAnswer: cover.mayAnswer,
  })
  const heartbeat = startHeartbeat(deps, kind, { cover, oldest: () => batcher.oldest() })
  const listener = startPingIngress(deps, kind)
  const uses = startPingUses(deps)
  return {
    cache,
    batcher,
    heartbeat,
    listener,
    uses,
    async [Symbol.asyncDispose]() {
      await batcher.drain()
      await listener[Symbol.asyncDispose]()
      await heartbeat[Symbol.asyncDispose]()
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
    if (check) matches.set(key, checks.length > 1 ? 'ambiguous' : decryptRules(check, secrets))
  }
  return matches
}
