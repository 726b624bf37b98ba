import type { DoorRules, PingAuth } from '#shared/monitoring/door/door-rules.ts'
import type { SealedDoorRules } from '#shared/monitoring/pings/lookup-store.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import type { KnownCheck } from './check-cache.ts'

type Found = Omit<KnownCheck, 'rules'> & { rules?: SealedDoorRules | null }

/** A check as it was looked up, with its ping secret opened: once for each look-up, not for each ping. */
export function openRules({ rules, ...check }: Found, secrets: Pick<Secrets, 'open'>): KnownCheck {
  return rules ? { ...check, rules: doorRulesOf(rules, secrets) } : check
}

function doorRulesOf(sealed: SealedDoorRules, secrets: Pick<Secrets, 'open'>): DoorRules {
  return { by: sealed.by, auth: sealed.mode === null ? null : authOf(sealed, sealed.mode, secrets) }
}

/** A secret that cannot be opened is one that nobody can show. It must not fail a look-up, which others share. */
function authOf(
  { sealedSecret, sealedPrevious, previousUntil }: SealedDoorRules,
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
