import { RateLimitedError } from '#shared/errors.ts'
import { THROTTLE_SHARE_PER_SECOND, type ThrottleRule, throttleRules } from '#shared/tenancy/oauth/token-request.ts'
import { returnTokens, secondsUntilToken, takeTokens } from '#shared/tenancy/rate-limits/store.ts'
import type { IngressDeps } from '../deps.ts'

const TOO_MANY = 'too many failed attempts'

/**
 * Decides on one attempt, unless too many failed from this address. A failed one stays counted.
 * @param address the caller's, as `addressBucket` makes it
 * @param check looks at the secret; undefined when it is wrong
 * @returns what `check` found
 * @throws RateLimitedError when too many failed from here, or about this client from wherever and this one failed too
 */
export async function throttled<T>(
  deps: Pick<IngressDeps, 'db' | 'tokenSlots'>,
  clientId: string,
  address: string,
  check: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const { db } = deps
  const { blocking, client } = throttleRules(clientId, address)
  return await deps.tokenSlots.run(address, async () => {
    const taken = await take(deps, blocking)
    if (taken.waitSeconds > 0) {
      await returnTokens(db, taken.granted)
      throw new RateLimitedError(TOO_MANY, taken.waitSeconds)
    }
    const found = await check()
    if (found !== undefined) {
      await returnTokens(db, blocking)
      return found
    }
    const { waitSeconds } = await take(deps, [client])
    if (waitSeconds > 0) throw new RateLimitedError(TOO_MANY, waitSeconds)
    return undefined
  })
}

/** @returns seconds to wait for all of them, 0 when each gave a token, and those that did */
async function take(
  { db }: Pick<IngressDeps, 'db'>,
  rules: readonly ThrottleRule[],
): Promise<{ waitSeconds: number; granted: ThrottleRule[] }> {
  const grants = await takeTokens(
    db,
    rules.map((rule) => ({ ...rule, wanted: 1 })),
    THROTTLE_SHARE_PER_SECOND,
  )
  const standing = rules.map((rule) => ({ rule, grant: grants.find(({ bucket }) => bucket === rule.bucket) }))
  const waits = standing.map(({ rule, grant }) =>
    grant && grant.granted === 0 ? secondsUntilToken(grant.left, rule.capacity, THROTTLE_SHARE_PER_SECOND) : 0,
  )
  const granted = standing.flatMap(({ rule, grant }) => (grant && grant.granted > 0 ? [rule] : []))
  return { waitSeconds: Math.max(...waits), granted }
}
