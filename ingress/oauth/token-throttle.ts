import { countFailures, recordFailure } from '#shared/oauth/store.ts'
import { retryAfterSeconds, throttleRules } from '#shared/oauth/throttle.ts'
import type { IngressDeps } from '../deps.ts'
import { RateLimitedError } from '../middleware/request-errors.ts'

const TOO_MANY = 'too many failed attempts'

/** Refuses while too many attempts failed from this address. @throws RateLimitedError */
export async function admitAttempt({ db }: IngressDeps, clientId: string, address: string): Promise<void> {
  const { blocking } = throttleRules(clientId, address)
  const failures = await countFailures(db, blocking)
  const waits = blocking.map((rule, index) => retryAfterSeconds(failures[index] ?? 0, rule))
  const wait = Math.max(...waits)
  if (wait > 0) throw new RateLimitedError(TOO_MANY, wait)
}

/**
 * Counts a wrong secret or an unknown client.
 * @throws RateLimitedError when the client has had too many, from wherever; a right secret never comes here
 */
export async function countFailedAttempt({ db }: IngressDeps, clientId: string, address: string): Promise<void> {
  const { blocking, client } = throttleRules(clientId, address)
  const [failures = 0] = await countFailures(db, [client])
  const wait = retryAfterSeconds(failures, client)
  await recordFailure(db, [...blocking, client])
  if (wait > 0) throw new RateLimitedError(TOO_MANY, wait)
}
