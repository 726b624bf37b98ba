import { LRUCache } from 'lru-cache'
import { createTokenBuckets, type TokenBuckets } from '#shared/platform/process/token-buckets.ts'
import type { AgentLogin } from '#shared/tenancy/agents/key-store.ts'
import type { CancellableCalls } from './cancellation.ts'

/** Maximum time until a revoked key or family takes effect (docs/spec/evidence-families.md#agent-keys). */
const MAX_AGE_MS = 5_000

export interface AgentDirectory {
  logins: LRUCache<string, AgentLogin>
  buckets: TokenBuckets
  /** number of running calls by the key's id */
  underWay: Map<string, number>
  cancellable: CancellableCalls
}

export function createAgentDirectory(callsPerMinute: number): AgentDirectory {
  return {
    logins: new LRUCache({ max: 10_000, ttl: MAX_AGE_MS }),
    buckets: createTokenBuckets(callsPerMinute),
    underWay: new Map(),
    cancellable: new Map(),
  }
}
