import { LRUCache } from 'lru-cache'
import { countSecretRefusals } from '#shared/monitoring/pings/secret-store.ts'
import { countLimitedPings, touchPingKeys } from '#shared/monitoring/pings/usage-store.ts'
import { describeError } from '#shared/platform/process/log.ts'
import type { IngressDeps } from '../deps.ts'

export interface PingUsage extends AsyncDisposable {
  keyUsed(pingKey: string): void
  limited(checkId: number): void
  unauthorised(checkId: number): void
}

const GATHER_MS = 1_000
/** A use of a key is stored at most once a minute. */
const KEY_MS = 60_000
const MAX_GATHERED = 10_000

/**
 * Collects uses for a second and stores them together, outside the ping path. If storing fails, the
 * error is logged and the counts are dropped: they are only displayed.
 */
export function startPingUses(
  deps: Pick<IngressDeps, 'db' | 'secrets' | 'log'>,
  { ignoresCase }: { ignoresCase: boolean },
): PingUsage {
  const known = new LRUCache<string, true>({ max: MAX_GATHERED, ttl: KEY_MS })
  const keys = new Set<string>()
  const limited = new Map<number, number>()
  const unauthorised = new Map<number, number>()
  let timer: NodeJS.Timeout | null = null
  let writing = Promise.resolve()

  function gather(): void {
    timer ??= setTimeout(write, GATHER_MS)
  }

  function add(counts: Map<number, number>, checkId: number): void {
    if (counts.size >= MAX_GATHERED && !counts.has(checkId)) return
    counts.set(checkId, (counts.get(checkId) ?? 0) + 1)
    gather()
  }

  function write(): void {
    if (timer) clearTimeout(timer)
    timer = null
    const digests = [...keys].flatMap((key) => deps.secrets.digests(key))
    const folded = ignoresCase ? [...keys].flatMap((key) => deps.secrets.digests(key.toLowerCase())) : []
    const counts = new Map(limited)
    const refused = new Map(unauthorised)
    unauthorised.clear()
    keys.clear()
    limited.clear()
    writing = writing
      .then(async () => {
        if (digests.length > 0) await touchPingKeys(deps.db, digests, folded)
        if (counts.size > 0) await countLimitedPings(deps.db, counts)
        if (refused.size > 0) await countSecretRefusals(deps.db, refused)
      })
      .catch((error: unknown) => deps.log.warn(describeError(error), 'ping.uses-not-written'))
  }

  return {
    keyUsed(pingKey) {
      if (known.has(pingKey) || keys.size >= MAX_GATHERED) return
      known.set(pingKey, true)
      keys.add(pingKey)
      gather()
    },
    limited: (checkId) => add(limited, checkId),
    unauthorised: (checkId) => add(unauthorised, checkId),
    async [Symbol.asyncDispose]() {
      write()
      await writing
    },
  }
}
