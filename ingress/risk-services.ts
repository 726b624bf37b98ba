import type { Knex } from 'knex'
import type { ApiEnv } from '#shared/environment.ts'
import type { Config } from '#shared/platform/process/config.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import { createTokenBuckets, type TokenBuckets } from '#shared/platform/process/token-buckets.ts'
import { cachedPerEnv } from '#shared/risk/domain-keys/cache.ts'
import type { SigningKey } from '#shared/risk/domain-keys/signing-key.ts'
import { ensureKey, ensureSigningKey } from '#shared/risk/domain-keys/store.ts'
import type { RequestSigner } from '#shared/risk/identity/request-object.ts'
import { type ClientDirectory, createClientDirectory } from './api-risk/client-directory.ts'
import { createKeyRing, type KeyRing } from './oauth/key-ring.ts'
import { requestSigners } from './oid4vp/request-signers.ts'

export interface RiskServices {
  keyRing: KeyRing
  clients: ClientDirectory
  /** by organisation, environment and family */
  callers: TokenBuckets
  /** by address, for lookups without an access token */
  addresses: TokenBuckets
  /** by address, for verifications without an access token */
  verifications: TokenBuckets
  /** keys of entity identifiers and of loan references */
  veiKey: (env: ApiEnv) => Promise<Buffer>
  loanRefKey: (env: ApiEnv) => Promise<Buffer>
  /** signer of requests to wallets; null if not configured */
  requestSigner: (env: ApiEnv) => Promise<RequestSigner | null>
  /** signs passports and their status lists */
  passportKey: (env: ApiEnv) => Promise<SigningKey>
  /** issuer of access tokens, and their default audience: the address of the API */
  issuer: string
}

export function createRiskServices(deps: { db: Knex; secrets: Secrets; config: Config }): RiskServices {
  return {
    keyRing: createKeyRing(deps),
    clients: createClientDirectory(deps.db),
    callers: createTokenBuckets(deps.config.platformRateLimitPerMinute),
    addresses: createTokenBuckets(deps.config.publicRateLimitPerMinute),
    verifications: createTokenBuckets(deps.config.publicRateLimitPerMinute),
    veiKey: cachedPerEnv((env) => ensureKey(deps.db, deps.secrets, env, 'vei')),
    loanRefKey: cachedPerEnv((env) => ensureKey(deps.db, deps.secrets, env, 'loan-ref')),
    requestSigner: requestSigners(deps),
    passportKey: cachedPerEnv((env) => ensureSigningKey(deps.db, deps.secrets, env, 'passport-signing')),
    issuer: deps.config.publicUrl,
  }
}
