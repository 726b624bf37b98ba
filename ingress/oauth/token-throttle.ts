import { RateLimitedError, UnavailableError } from '#shared/errors.ts'
import { THROTTLE_SHARE_PER_SECOND, type ThrottleRule, throttleRules } from '#shared/tenancy/oauth/throttle.ts'
import { returnTokens, secondsUntilToken, takeTokens } from '#shared/tenancy/rate-limits/store.ts'
import type { IngressDeps } from '../deps.ts'
import { perProcess } from '../middleware/per-process.ts'

const TOO_MANY = 'too many failed attempts'
/**
 * Attempts of one address that are decided on at once. Each holds a token meanwhile, so a client that asks for many
 * tokens at once with a right secret must not empty its own bucket: this is below the smallest of them.
 */
const CONCURRENCY = 4

/**
 * Decides on one attempt, unless too many failed from this address. A failed one stays counted.
 * @param address the caller's, as `addressBucket` makes it
 * @param check looks at the secret; undefined when it is wrong
 * @returns what `check` found
 * @throws RateLimitedError when too many failed from here, or about this client from wherever and this one failed too
 */
export async function throttled<T>(
  deps: IngressDeps,
  clientId: string,
  address: string,
  check: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const { db } = deps
  const { blocking, client } = throttleRules(clientId, address)
  return await slots(deps).run(address, async () => {
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
  { db }: IngressDeps,
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

const slots = perProcess(() => createSlots())

/** Runs at most some works of one name at a time; the others wait for their turn. */
function createSlots() {
  const busy = new Map<string, { running: number; waiting: PromiseWithResolvers<void>[] }>()

  return {
    async run<T>(name: string, work: () => Promise<T>): Promise<T> {
      const slot = busy.get(name) ?? { running: 0, waiting: [] }
      busy.set(name, slot)
      if (slot.running < CONCURRENCY) slot.running += 1
      else {
        const turn = Promise.withResolvers<void>()
        slot.waiting.push(turn)
        await turn.promise
      }
      try {
        return await work()
      } catch (error) {
        // What cannot be served now is not served to those who wait either: they would only wait as long once more.
        if (error instanceof UnavailableError) for (const turn of slot.waiting.splice(0)) turn.reject(error)
        throw error
      } finally {
        const next = slot.waiting.shift()
        if (next) next.resolve()
        else {
          slot.running -= 1
          if (slot.running === 0) busy.delete(name)
        }
      }
    },
  }
}
