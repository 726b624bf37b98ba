import type { Knex } from 'knex'
import { openGeneration } from '#shared/contracts/ping-generations.ts'
import { createCover, type ListenerKind } from '#shared/monitoring/availability/heartbeat-store.ts'
import {
  type FoundCheck,
  findChecksByFoldedKey,
  findChecksBySlug,
  findChecksByUuid,
} from '#shared/monitoring/pings/lookup-store.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import type { IngressDeps } from '../deps.ts'
import { Batcher } from './batcher.ts'
import { type CheckCache, createCheckCache, type SlugMatch } from './check-cache.ts'
import { decryptRules } from './decrypt-rules.ts'
import { type Heartbeat, startHeartbeat } from './heartbeat.ts'
import { createListenerProof, type ListenerProof } from './listener-proof.ts'
import { type PingUsage, startPingUses } from './usage-counters.ts'

export interface PingPath extends AsyncDisposable {
  cache: CheckCache
  batcher: Batcher
  uses: PingUsage
  heartbeat: Heartbeat
  proof: ListenerProof
}

export type PingPathDeps = Pick<
  IngressDeps,
  'config' | 'db' | 'reserveDb' | 'broker' | 'secrets' | 'log' | 'metrics' | 'installation' | 'clock' | 'now'
>

/** Closing it waits for accepted pings. */
export function openPingPath(deps: PingPathDeps, kind: ListenerKind): PingPath {
  const cache = createCheckCache(
    {
      byUuid: async (uuids) => {
        const found = await findChecksByUuid(deps.db, uuids)
        return new Map([...found].map(([uuid, check]) => [uuid, decryptRules(check, deps.secrets)]))
      },
      bySlug: (keys) => (kind === 'smtp' ? findByMailKey : findBySlug)(deps.db, deps.secrets, keys),
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
  const proof = createListenerProof(deps, kind)
  const uses = startPingUses(deps, { ignoresCase: kind === 'smtp' })
  return {
    cache,
    batcher,
    heartbeat,
    proof,
    uses,
    async [Symbol.asyncDispose]() {
      await batcher.drain()
      await proof[Symbol.asyncDispose]()
      await heartbeat[Symbol.asyncDispose]()
      await uses[Symbol.asyncDispose]()
    },
  }
}

async function findBySlug(db: Knex, secrets: Secrets, keys: readonly string[]): Promise<Map<string, SlugMatch>> {
  return toMatches(keys, await findChecksBySlug(db, pairsOf(keys, secrets.digests)), secrets)
}

/** Looks up keys of e-mail addresses: first as written, then without regard to case (docs/spec/monitoring.md#email-pings). */
async function findByMailKey(db: Knex, secrets: Secrets, keys: readonly string[]): Promise<Map<string, SlugMatch>> {
  const exact = await findBySlug(db, secrets, keys)
  const others = keys.filter((key) => !exact.has(key))
  if (others.length === 0) return exact
  const pairs = pairsOf(others, (pingKey) => secrets.digests(pingKey.toLowerCase()))
  return new Map([...exact, ...toMatches(others, await findChecksByFoldedKey(db, pairs), secrets)])
}

/** A key may be digested under the present secret or the one before it. */
function pairsOf(keys: readonly string[], digestsOf: (pingKey: string) => Buffer[]) {
  return keys.flatMap((key, pair) => {
    const separator = key.indexOf('/')
    const slug = key.slice(separator + 1)
    return digestsOf(key.slice(0, separator)).map((digest) => ({ pair, digest, slug }))
  })
}

function toMatches(
  keys: readonly string[],
  found: ReadonlyMap<number, FoundCheck[]>,
  secrets: Secrets,
): Map<string, SlugMatch> {
  const matches = new Map<string, SlugMatch>()
  for (const [pair, key] of keys.entries()) {
    const checks = found.get(pair) ?? []
    const [check] = checks
    if (check) matches.set(key, checks.length > 1 ? 'ambiguous' : decryptRules(check, secrets))
  }
  return matches
}
