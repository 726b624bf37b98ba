import { forgetAttempts } from '#shared/accounts/attempts-store.ts'
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
  const { db } = context.deps
  const grants = await takeTokens(
    db,
    [
      { bucket: `web:${what}:from:${context.address}`, wanted: 1, capacity: PER_ADDRESS },
      { bucket: accountBucket(context, what, subject), wanted: 1, capacity: PER_ACCOUNT },
    ],
    SHARE_PER_SECOND,
  )
  if (grants.some(({ granted }) => granted < 1)) {
    throw new RateLimitedError('Too many attempts. Wait a few minutes, then try again.', 120)
  }
}

/** After a success: the person's own later attempts are not held against them. */
export async function forgetThrottle(context: Context, what: string, subject: string): Promise<void> {
  await forgetAttempts(context.deps.db, accountBucket(context, what, subject))
}

function accountBucket({ deps }: Context, what: string, subject: string): string {
  return `web:${what}:to:${deps.secrets.digest(`throttle:${subject}`).toString('base64url')}`
}
