import { RateLimitedError } from '#shared/errors.ts'
import { addressBucket } from '#shared/platform/http/remote-addr.ts'
import { forgetAttempts } from '#shared/tenancy/accounts/attempts-store.ts'
import { takeTokens } from '#shared/tenancy/rate-limits/store.ts'
import type { Context } from '../shell/context.ts'

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
      { bucket: `web:${what}:from:${addressBucket(context.address)}`, wanted: 1, capacity: PER_ADDRESS },
      { bucket: accountBucket(context, what, subject), wanted: 1, capacity: PER_ACCOUNT },
    ],
    SHARE_PER_SECOND,
  )
  if (grants.some(({ granted }) => granted < 1)) throw tooManyAttempts()
}

/**
 * Counts a password attempt before it is verified. The refusing limits include the caller's address: an attacker cannot
 * exhaust them for a person who signs in from another one.
 * @returns whether the account's own count is used up: then a wrong password is answered by `tooManyAttempts`, and a
 * right one still passes
 * @throws RateLimitedError beyond the count of the address, or of this account from this address
 */
export async function throttleGuess(context: Context, what: string, subject: string): Promise<boolean> {
  const account = accountBucket(context, what, subject)
  const grants = await takeTokens(
    context.deps.db,
    [
      { bucket: `web:${what}:from:${addressBucket(context.address)}`, wanted: 1, capacity: PER_ADDRESS },
      { bucket: pairBucket(context, what, subject), wanted: 1, capacity: PER_ACCOUNT },
      { bucket: account, wanted: 1, capacity: PER_ACCOUNT },
    ],
    SHARE_PER_SECOND,
  )
  const empty = grants.filter(({ granted }) => granted < 1)
  if (empty.some(({ bucket }) => bucket !== account)) throw tooManyAttempts()
  return empty.length > 0
}

/**
 * Counts an invitation against who sends it, for whom, and to whom.
 * @throws RateLimitedError beyond 20 of a person, 40 of an organisation or 5 to an address within a quarter of an hour
 */
export async function throttleInvitation(
  { deps }: Context,
  userId: number,
  organisationId: number,
  email: string,
): Promise<void> {
  const to = deps.secrets.digest(`throttle:${email}`).toString('base64url')
  const grants = await takeTokens(
    deps.db,
    [
      { bucket: `web:invite:by:${userId}`, wanted: 1, capacity: 20 },
      { bucket: `web:invite:of:${organisationId}`, wanted: 1, capacity: 40 },
      { bucket: `web:invite:to:${to}`, wanted: 1, capacity: 5 },
    ],
    SHARE_PER_SECOND,
  )
  if (grants.some(({ granted }) => granted < 1)) throw tooManyAttempts()
}

/** The error for a wrong password after too many attempts. */
export function tooManyAttempts(): RateLimitedError {
  return new RateLimitedError('Too many attempts. Wait a few minutes, then try again.', 120)
}

/** After a success: the person's own later attempts are not held against them. */
export async function forgetThrottle(context: Context, what: string, subject: string): Promise<void> {
  const buckets = [accountBucket(context, what, subject), pairBucket(context, what, subject)]
  await forgetAttempts(context.deps.db, buckets)
}

function pairBucket(context: Context, what: string, subject: string): string {
  return `${accountBucket(context, what, subject)}:from:${addressBucket(context.address)}`
}

function accountBucket({ deps }: Context, what: string, subject: string): string {
  return `web:${what}:to:${deps.secrets.digest(`throttle:${subject}`).toString('base64url')}`
}
