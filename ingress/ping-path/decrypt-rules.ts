import type { FoundCheck, SealedPingAuthRules } from '#shared/monitoring/pings/lookup-store.ts'
import type { PingAuth, PingAuthRules } from '#shared/monitoring/pings/ping-secret.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import type { KnownCheck } from './check-cache.ts'

/** Decrypts the ping secret of a check once per lookup, not once per ping. */
export function decryptRules({ rules, ...check }: FoundCheck, secrets: Pick<Secrets, 'open'>): KnownCheck {
  return rules ? { ...check, rules: decryptPingAuthRules(rules, secrets) } : check
}

function decryptPingAuthRules(sealed: SealedPingAuthRules, secrets: Pick<Secrets, 'open'>): PingAuthRules {
  const { sourceFrom, mode } = sealed
  return { sourceFrom, auth: mode === null ? null : decryptPingAuth(sealed, mode, secrets) }
}

/** A secret that cannot be decrypted becomes null. An error would also fail the other checks of the same lookup. */
function decryptPingAuth(
  { sealedSecret, sealedPrevious, previousUntil }: SealedPingAuthRules,
  mode: PingAuth['mode'],
  secrets: Pick<Secrets, 'open'>,
): PingAuth {
  const decrypt = (sealed: string | null) => {
    try {
      return sealed === null ? null : secrets.open('ping-secret', sealed)
    } catch {
      return null
    }
  }
  const previous = decrypt(sealedPrevious)
  return {
    mode,
    secret: decrypt(sealedSecret),
    previous: previous !== null && previousUntil !== null ? { secret: previous, until: previousUntil } : null,
  }
}
