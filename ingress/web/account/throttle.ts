import { RateLimitedError } from '#shared/errors.ts'
import { addressBucket } from '#shared/platform/http/remote-addr.ts'
import { forgetAttempts } from '#shared/tenancy/accounts/attempts-store.ts'
import { takeTokens } from '#shared/tenancy/rate-limits/store.ts'
import type { Context } from '../shell/context.ts'

/** A bucket refills in 15 minutes. */
const SHARE_PER_SECOND = 1 / 900
const PER_ADDRESS = 40
const PER_ACCOUNT = 10

/**
 * Counts an attempt to guess a secret per address and per subject, over all processes.
 * @param subject e-mail address or another name of the account; stored as a digest
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
 * Counts a password attempt before the password is verified. Only limits per address refuse it, so that an attacker
 * cannot lock out the owner.
 * @returns true if the account's limit is used up: a wrong password then gets `tooManyAttempts`, a correct one succeeds
 * @throws RateLimitedError above the limit of the address, or of this account from this address
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
 * Counts an invitation per sender, organisation and recipient.
 * @throws RateLimitedError above 20 per user, 40 per organisation or 5 per recipient in 15 minutes
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

export function tooManyAttempts(): RateLimitedError {
  return new RateLimitedError('Too many attempts. Wait a few minutes, then try again.', 120)
}

/** Resets the count after a success, so that later attempts of the owner are not refused. */
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
