import type { Knex } from 'knex'
import type { Secrets } from '../../platform/process/secrets.ts'
import type { Micros } from '../../time.ts'
import { normalRecoveryCode, recoveryCodeText } from '../accounts/recovery-codes.ts'
import { findTotp, takeRecoveryCode, takeTotpStep } from '../accounts/second-factor-store.ts'
import { totpStep } from '../accounts/totp.ts'

/**
 * Takes a code of the authenticator app, or a recovery code: each counts once.
 * @returns which it was; null when it is neither
 */
export async function takeSecondFactor(
  tx: Knex,
  userId: number,
  typed: string,
  now: Micros,
  { secrets }: { secrets: Secrets },
): Promise<'totp' | 'recovery-code' | null> {
  const totp = await findTotp(tx, userId)
  if (totp?.isConfirmed) {
    const step = totpStep(secrets.open('second-factor', totp.sealedSecret), typed, now)
    if (step !== null && (await takeTotpStep(tx, userId, step))) return 'totp'
  }
  const code = normalRecoveryCode(typed)
  if (code === null) return null
  const isTaken = await takeRecoveryCode(tx, userId, secrets.digests(recoveryCodeText(userId, code)))
  return isTaken ? 'recovery-code' : null
}
