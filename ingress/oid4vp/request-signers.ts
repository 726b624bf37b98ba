import type { Knex } from 'knex'
import type { ApiEnv } from '#shared/environment.ts'
import type { Config } from '#shared/platform/process/config.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import { cachedPerEnv } from '#shared/risk/domain-keys/cache.ts'
import { ensureSigningKey } from '#shared/risk/domain-keys/store.ts'
import { certifiedSigner, didSigner, type RequestSigner } from '#shared/risk/identity/request-object.ts'

/**
 * Selects the signer of requests to wallets: the operator's certificate, or in the sandbox without one a generated key,
 * whose DID is the client id.
 * @throws Error if certificate and key do not match
 */
export function requestSigners({ db, secrets, config }: { db: Knex; secrets: Secrets; config: Config }) {
  const { oid4vpCert, oid4vpKey, publicUrl } = config
  const certified =
    oid4vpCert === undefined || oid4vpKey === undefined ? null : certifiedSigner(oid4vpCert, oid4vpKey, publicUrl)
  return cachedPerEnv(async (env: ApiEnv): Promise<RequestSigner | null> => {
    if (certified || env === 'PRODUCTION') return certified
    return didSigner(await ensureSigningKey(db, secrets, env, 'request-signing'))
  })
}
