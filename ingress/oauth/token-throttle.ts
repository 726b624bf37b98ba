import { RateLimitedError } from '#shared/errors.ts'
import { THROTTLE_SHARE_PER_SECOND, type ThrottleRule, throttleRules } from '#shared/tenancy/oauth/token-request.ts'
import { returnTokens, secondsUntilToken, takeTokens } from '#shared/tenancy/rate-limits/store.ts'
import type { IngressDeps } from '../deps.ts'

const TOO_MANY = 'too many failed attempts'

/**
 * Runs one attempt at a secret and counts it if it failed.
 * @param address result of `addressBucket`
 * @param check verifies the secret; undefined if it is wrong
 * @throws RateLimitedError after too many failures of this address
 * @throws RateLimitedError if this attempt fails after too many failures of this client
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

/** @returns seconds to wait, 0 if every rule granted a token; and the granted tokens */
async function take(
  { db }: Pick<IngressDeps, 'db'>,
  rules: readonly ThrottleRule[],
): Promise<{ waitSeconds: number; granted: ThrottleRule[] }> {
  const grants = await takeTokens(
    db,
    rules.map((rule) => ({ ...rule, wanted: 1 })),
    THROTTLE_SHARE_PER_SECOND,
  )
  const results = rules.map((rule) => ({ rule, grant: grants.find(({ bucket }) => bucket === rule.bucket) }))
  const waits = results.map(({ rule, grant }) =>
    grant && grant.granted === 0 ? secondsUntilToken(grant.left, rule.capacity, THROTTLE_SHARE_PER_SECOND) : 0,
  )
  const granted = results.flatMap(({ rule, grant }) => (grant && grant.granted > 0 ? [rule] : []))
  return { waitSeconds: Math.max(...waits), granted }
}
