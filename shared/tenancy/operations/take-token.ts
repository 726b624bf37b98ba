import type { Knex } from 'knex'
import { RateLimitedError } from '../../errors.ts'
import { secondsUntilToken, takeTokens } from '../rate-limits/store.ts'

/**
 * Counts one of the things that may be done so many times a minute, whichever process does them.
 * @param refusal what is said to whoever did too many
 * @throws RateLimitedError
 */
export async function takeToken(db: Knex, bucket: string, perMinute: number, refusal: string): Promise<void> {
  const share = 1 / 60
  const [grant] = await takeTokens(db, [{ bucket, wanted: 1, capacity: perMinute }], share)
  if (grant && grant.granted > 0) return
  throw new RateLimitedError(refusal, secondsUntilToken(grant?.left ?? 0, perMinute, share))
}
