import { takeTokens } from '#shared/rate-limits/store.ts'
import { RateLimitedError } from '../../middleware/request-errors.ts'
import type { Context } from '../context.ts'

/** A quarter of an hour refills a bucket. */
const SHARE_PER_SECOND = 1 / 900
const PER_ADDRESS = 40
const PER_ACCOUNT = 10

/**
 * Counts an attempt at something guessable against where it comes from and whom it is about, in all processes together.
 * @param subject an address or another name of the account; stored as a digest
 * @throws RateLimitedError
 */
export async function throttle(context: Context, what: string, subject: string): Promise<void> {
  const { db, secrets } = context.deps
  const account = secrets.digest(`throttle:${subject}`).toString('base64url')
  const grants = await takeTokens(
    db,
    [
      { bucket: `web:${what}:from:${context.address}`, wanted: 1, capacity: PER_ADDRESS },
      { bucket: `web:${what}:to:${account}`, wanted: 1, capacity: PER_ACCOUNT },
    ],
    SHARE_PER_SECOND,
  )
  if (grants.some(({ granted }) => granted < 1)) {
    throw new RateLimitedError('Too many attempts. Wait a few minutes, then try again.', 120)
  }
}
