import type { Knex } from 'knex'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { StoredPasskey } from './passkey.ts'

export interface SecondFactors {
  hasTotp: boolean
  passkeys: ListedPasskey[]
  recoveryCodes: number
}

interface ListedPasskey {
  credentialId: string
  name: string
  createdAt: Date
  usedAt: Date | null
}

/** Longer than the lifetime of a challenge. */
const CHALLENGE_RETENTION = '1 day'

export async function hasSecondFactor(db: Knex, userId: number): Promise<boolean> {
  const rows = await query<{ found: boolean }>(
    db,
    `SELECT EXISTS (SELECT 1 FROM user_totp WHERE user_id = ? AND is_confirmed)
         OR EXISTS (SELECT 1 FROM user_passkeys WHERE user_id = ?) AS found`,
    [userId, userId],
  )
  return rows[0]?.found ?? false
}

const LISTED_PASSKEY_COLUMNS = columns<ListedPasskey>()('credential_id, name, created_at, used_at')

export async function findSecondFactors(db: Knex, userId: number): Promise<SecondFactors> {
  const totp = await query(db, 'SELECT 1 FROM user_totp WHERE user_id = ? AND is_confirmed', [userId])
  const passkeys = await query(
    db,
    typed`SELECT ${LISTED_PASSKEY_COLUMNS} FROM user_passkeys WHERE user_id = ? ORDER BY created_at, credential_id`,
    [userId],
  )
  const [codes] = await query<{ left: number }>(
    db,
    'SELECT count(*)::int AS left FROM user_recovery_codes WHERE user_id = ?',
    [userId],
  )
  return { hasTotp: totp.length > 0, passkeys, recoveryCodes: codes?.left ?? 0 }
}

export interface StoredTotp {
  sealedSecret: string
  isConfirmed: boolean
}

const STORED_TOTP_COLUMNS = columns<StoredTotp>({ sealedSecret: 'sealed_secret', isConfirmed: 'is_confirmed' })

export async function findTotp(db: Knex, userId: number): Promise<StoredTotp | null> {
  const rows = await query(db, typed`SELECT ${STORED_TOTP_COLUMNS} FROM user_totp WHERE user_id = ?`, [userId])
  return rows[0] ?? null
}

/** Returns false if there is a confirmed one. */
export async function beginTotp(db: Knex, userId: number, sealedSecret: string): Promise<boolean> {
  const changed = await execute(
    db,
    `INSERT INTO user_totp (user_id, sealed_secret) VALUES (?, ?)
     ON CONFLICT (user_id) DO UPDATE SET sealed_secret = excluded.sealed_secret, last_step = 0, created_at = now()
     WHERE NOT user_totp.is_confirmed`,
    [userId, sealedSecret],
  )
  return changed === 1
}

/** Accepts a code once: false when one of this half minute or a later one was accepted. */
export async function useTotpStep(db: Knex, userId: number, step: number): Promise<boolean> {
  const changed = await execute(
    db,
    `UPDATE user_totp SET last_step = ?, is_confirmed = true,
       created_at = CASE WHEN is_confirmed THEN created_at ELSE now() END
     WHERE user_id = ? AND last_step < ?`,
    [step, userId, step],
  )
  return changed === 1
}

export async function deleteTotp(tx: Knex, userId: number): Promise<boolean> {
  return (await execute(tx, 'DELETE FROM user_totp WHERE user_id = ?', [userId])) === 1
}

export async function insertPasskey(tx: Knex, passkey: StoredPasskey & { name: string }): Promise<boolean> {
  const changed = await execute(
    tx,
    `INSERT INTO user_passkeys (credential_id, user_id, public_key, counter, transports, name)
     VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    [passkey.credentialId, passkey.userId, passkey.publicKey, passkey.counter, passkey.transports, passkey.name],
  )
  return changed === 1
}

const STORED_PASSKEY_COLUMNS = columns<StoredPasskey>()('user_id, credential_id, public_key, counter, transports')

export async function findPasskey(db: Knex, credentialId: string): Promise<StoredPasskey | null> {
  const rows = await query(db, typed`SELECT ${STORED_PASSKEY_COLUMNS} FROM user_passkeys WHERE credential_id = ?`, [
    credentialId,
  ])
  return rows[0] ?? null
}

export async function notePasskeyUse(tx: Knex, credentialId: string, counter: number): Promise<void> {
  const sql = 'UPDATE user_passkeys SET counter = ?, used_at = now() WHERE credential_id = ?'
  await execute(tx, sql, [counter, credentialId])
}

export async function deletePasskey(tx: Knex, userId: number, credentialId: string): Promise<boolean> {
  const sql = 'DELETE FROM user_passkeys WHERE user_id = ? AND credential_id = ?'
  return (await execute(tx, sql, [userId, credentialId])) === 1
}

/** Earlier codes become invalid. */
export async function replaceRecoveryCodes(tx: Knex, userId: number, digests: readonly Buffer[]): Promise<void> {
  await execute(tx, 'DELETE FROM user_recovery_codes WHERE user_id = ?', [userId])
  await execute(tx, 'INSERT INTO user_recovery_codes (user_id, digest) SELECT ?, unnest(?::bytea[])', [userId, digests])
}

/** Returns false if it is not a code of this user, or was used. */
export async function useRecoveryCode(tx: Knex, userId: number, digests: readonly Buffer[]): Promise<boolean> {
  const sql = 'DELETE FROM user_recovery_codes WHERE user_id = ? AND digest = ANY(?::bytea[])'
  return (await execute(tx, sql, [userId, digests])) === 1
}

/** Keeps the password. Returns false without factors. */
export async function deleteSecondFactors(tx: Knex, userId: number): Promise<boolean> {
  const deleted = [
    await execute(tx, 'DELETE FROM user_totp WHERE user_id = ?', [userId]),
    await execute(tx, 'DELETE FROM user_passkeys WHERE user_id = ?', [userId]),
    await execute(tx, 'DELETE FROM user_recovery_codes WHERE user_id = ?', [userId]),
  ]
  return deleted.some((count) => count > 0)
}

export type FactorId = { totp: true } | { passkey: string }

/** The factor is unconfirmed until the link in its mail is used. */
export async function awaitMailConfirmation(tx: Knex, userId: number, factor: FactorId, digest: Buffer): Promise<void> {
  if ('totp' in factor) {
    await execute(tx, 'UPDATE user_totp SET mail_digest = ? WHERE user_id = ?', [digest, userId])
  } else {
    const sql = 'UPDATE user_passkeys SET mail_digest = ? WHERE user_id = ? AND credential_id = ?'
    await execute(tx, sql, [digest, userId, factor.passkey])
  }
}

const UNCONFIRMED_COLUMNS = columns<{ userId: number; credentialId: string | null; name: string }>()(`
  user_id, NULL AS credentialId, 'authenticator app' AS name`)

export async function findUnconfirmedFactor(
  db: Knex,
  digests: readonly Buffer[],
): Promise<{ userId: number; factor: FactorId; name: string } | null> {
  const rows = await query(
    db,
    typed`SELECT ${UNCONFIRMED_COLUMNS} FROM user_totp
     WHERE mail_digest = ANY(?::bytea[])
     UNION ALL
     SELECT user_id, credential_id, 'passkey “' || name || '”' FROM user_passkeys WHERE mail_digest = ANY(?::bytea[])`,
    [digests, digests],
  )
  const [row] = rows
  if (!row) return null
  const { userId, credentialId, name } = row
  return { userId, factor: credentialId === null ? { totp: true } : { passkey: credentialId }, name }
}

export async function confirmFactor(tx: Knex, digests: readonly Buffer[]): Promise<boolean> {
  const changed = [
    await execute(tx, 'UPDATE user_totp SET mail_digest = NULL WHERE mail_digest = ANY(?::bytea[])', [digests]),
    await execute(tx, 'UPDATE user_passkeys SET mail_digest = NULL WHERE mail_digest = ANY(?::bytea[])', [digests]),
  ]
  return changed.some((count) => count > 0)
}

/** Deletes also recovery codes, which the adder has seen. `since` includes factors that were confirmed later. */
export async function deleteUnconfirmedFactors(tx: Knex, userId: number, since?: Date): Promise<number> {
  const condition = 'user_id = ? AND (mail_digest IS NOT NULL OR created_at > ?::timestamptz)'
  const count =
    (await execute(tx, `DELETE FROM user_totp WHERE ${condition}`, [userId, since ?? null])) +
    (await execute(tx, `DELETE FROM user_passkeys WHERE ${condition}`, [userId, since ?? null]))
  if (count > 0) await execute(tx, 'DELETE FROM user_recovery_codes WHERE user_id = ?', [userId])
  return count
}

/** Deletes expired records. Returns false the second time. */
export async function useChallenge(tx: Knex, digest: Buffer): Promise<boolean> {
  await execute(tx, 'DELETE FROM used_challenges WHERE used_at < now() - ?::interval', [CHALLENGE_RETENTION])
  return (await execute(tx, 'INSERT INTO used_challenges (digest) VALUES (?) ON CONFLICT DO NOTHING', [digest])) === 1
}
