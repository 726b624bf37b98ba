import { LRUCache } from 'lru-cache'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import type { LockedEndpoint } from '#shared/webhooks/claim-store.ts'
import type { SigningKeys } from '#shared/webhooks/signature.ts'
import { secretKeyOf } from '#shared/webhooks/signing-secret.ts'

/** Opens an endpoint's secrets; each only once while it is in use. */
export function createSigningKeys(
  secrets: Secrets,
): (endpoint: Pick<LockedEndpoint, 'sealedSecret' | 'sealedPreviousSecret'>) => SigningKeys {
  const keys = new LRUCache<string, Buffer>({ max: 10_000 })
  const keyOf = (sealed: string): Buffer => {
    const known = keys.get(sealed)
    if (known) return known
    const key = secretKeyOf(secrets.open('webhook-secret', sealed))
    keys.set(sealed, key)
    return key
  }
  return ({ sealedSecret, sealedPreviousSecret }) => ({
    current: keyOf(sealedSecret),
    previous: sealedPreviousSecret === null ? null : keyOf(sealedPreviousSecret),
  })
}
