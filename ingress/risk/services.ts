import type { TokenAudience } from '#shared/oauth/access-token.ts'
import { parseTrustedProxies, type TrustedProxies } from '#shared/pings/remote-addr.ts'
import type { IngressDeps } from '../deps.ts'
import { perProcess } from '../middleware/per-process.ts'
import { createKeyRing, type KeyRing } from '../oauth/key-ring.ts'
import { type ClientDirectory, createClientDirectory } from './client-directory.ts'
import { createPackReplies, type PackReplies } from './pack-replies.ts'
import { createRateLimiter, type RateLimiter } from './rate-limiter.ts'

/** What the `/v1` doors of one process share. */
export interface PlatformServices {
  keyRing: KeyRing
  clients: ClientDirectory
  rateLimiter: RateLimiter
  packReplies: PackReplies
  /** issuer and audience of access tokens: both are the address of the API */
  audience: TokenAudience
  trustedProxies: TrustedProxies
}

export const platformServices: (deps: IngressDeps) => PlatformServices = perProcess((deps) => ({
  keyRing: createKeyRing(deps),
  clients: createClientDirectory(deps),
  rateLimiter: createRateLimiter(deps.config.platformRateLimitPerMinute),
  packReplies: createPackReplies(deps.broker),
  audience: { issuer: deps.config.publicUrl, audience: deps.config.publicUrl },
  trustedProxies: parseTrustedProxies(deps.config.trustedProxies),
}))
