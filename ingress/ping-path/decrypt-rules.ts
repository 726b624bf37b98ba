import type { SealedPingAuthRules } from '#shared/monitoring/pings/lookup-store.ts'
import type { PingAuth, PingAuthRules } from '#shared/monitoring/pings/ping-secret.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import type { KnownCheck } from './check-cache.ts'

type Found = Omit<KnownCheck, 'rules'> & { rules?: SealedPingAuthRules | null }

/** Decrypts the ping secret of a check once per lookup, not per ping. */
export function decryptRules({ rules, ...check }: Found, secrets: Pick<Secrets, 'open'>): KnownCheck {
  return rules ? { ...check, rules: pingAuthOf(rules, secrets) } : check
}

function pingAuthOf(sealed: SealedPingAuthRules, secrets: Pick<Secrets, 'open'>): PingAuthRules {
  return { by: sealed.by, auth: sealed.mode === null ? null : authOf(sealed, sealed.mode, secrets) }
}

/** A secret that cannot be decrypted matches no ping. It must not fail a lookup that other checks share. */
function authOf(
  { sealedSecret, sealedPrevious, previousUntil }: SealedPingAuthRules,
  mode: PingAuth['mode'],
  secrets: Pick<Secrets, 'open'>,
): PingAuth {
  const open = (sealed: string | null) => {
    try {
      return sealed === null ? null : secrets.open('ping-secret', sealed)
    } catch {
      return null
    }
  }
  const previous = open(sealedPrevious)
  return {
    mode,
    secret: open(sealedSecret),
    previous: previous !== null && previousUntil !== null ? { secret: previous, until: previousUntil } : null,
  }
}
