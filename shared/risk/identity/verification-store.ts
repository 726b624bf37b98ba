import type { Knex } from 'knex'
import type { Owner } from '../../jobs/job.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Verification } from './verification.ts'

const COLUMNS = columns<Verification>()(`
  v.id, v.key, v.tier, v.missing_reason, v.is_high, v.raw_sha256, v.presentation_id, v.consent_id, v.observed_at,
  v.expires_at, v.revoked_at`)

export async function listVerifications(db: Knex, subjectId: string): Promise<Verification[]> {
  return await query(
    db,
    typed`SELECT ${COLUMNS} FROM identity_verifications v WHERE v.subject_id = ? ORDER BY v.seq DESC LIMIT 500`,
    [subjectId],
  )
}

export interface ListedVerification extends Verification {
  seq: number
  subjectId: string
  subjectRef: string
}

const LISTED_COLUMNS = columns<Pick<ListedVerification, 'seq' | 'subjectId' | 'subjectRef'>>()(`
  v.seq, s.id AS subjectId, s.ref AS subjectRef`)

/** Newest first. `before` is of the last row of the previous page. */
export async function listAllVerifications(
  db: Knex,
  owner: Owner,
  before: number | null,
  limit: number,
): Promise<ListedVerification[]> {
  return await query(
    db,
    typed`SELECT ${COLUMNS}, ${LISTED_COLUMNS}
     FROM identity_verifications v JOIN identity_subjects s ON s.id = v.subject_id
     WHERE s.organisation_id = ? AND s.env = ? AND (?::bigint IS NULL OR v.seq < ?) ORDER BY v.seq DESC LIMIT ?`,
    [owner.organisationId, owner.env, before, before, limit],
  )
}

export async function insertVerification(
  tx: Knex,
  subjectId: string,
  made: Verification & { sealedValues: string | null; sealedStatus: string | null },
): Promise<void> {
  await execute(
    tx,
    `INSERT INTO identity_verifications (id, subject_id, key, tier, missing_reason, is_high, raw_sha256,
       presentation_id, consent_id, observed_at, expires_at, sealed_values, sealed_status, status_checked_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      made.id,
      subjectId,
      made.key,
      made.tier,
      made.missingReason,
      made.isHigh,
      made.rawSha256,
      made.presentationId,
      made.consentId,
      made.observedAt,
      made.expiresAt,
      made.sealedValues,
      made.sealedStatus,
      made.sealedStatus === null ? null : made.observedAt,
    ],
  )
}

/** A presentation may verify a subject once. */
export async function hasVerified(db: Knex, presentationId: string): Promise<boolean> {
  const rows = await query(db, 'SELECT 1 FROM identity_verifications WHERE presentation_id = ?', [presentationId])
  return rows.length > 0
}

/** Deletes the values of the verifications too. Returns their number. */
export async function revokeByConsent(tx: Knex, consentId: string, at: Date): Promise<number> {
  return await execute(
    tx,
    `UPDATE identity_verifications SET revoked_at = ?, sealed_values = NULL WHERE consent_id = ? AND revoked_at IS NULL`,
    [at, consentId],
  )
}

/** A credential's status must be looked up again. */
export interface DueStatus {
  id: string
  subjectId: string
  organisationId: number
  env: 'SANDBOX' | 'PRODUCTION'
  sealedStatus: string
}

/** Of verified subjects, not looked up since. */
export async function claimDueStatuses(tx: Knex, since: Date, at: Date, limit: number): Promise<string[]> {
  const rows = await query<{ id: string }>(
    tx,
    `UPDATE identity_verifications SET status_checked_at = ? WHERE id IN (
       SELECT v.id FROM identity_verifications v JOIN identity_subjects s ON s.id = v.subject_id AND s.state = 'VERIFIED'
       WHERE v.sealed_status IS NOT NULL AND v.revoked_at IS NULL AND v.status_checked_at <= ? AND v.expires_at > ?
       ORDER BY v.status_checked_at LIMIT ? FOR UPDATE OF v SKIP LOCKED)
     RETURNING id`,
    [at, since, at, limit],
  )
  return rows.map(({ id }) => id)
}

const DUE_STATUS_COLUMNS = columns<DueStatus>()('v.id, v.subject_id, s.organisation_id, s.env, v.sealed_status')

export async function findDueStatus(db: Knex, id: string): Promise<DueStatus | undefined> {
  const [row] = await query(
    db,
    typed`SELECT ${DUE_STATUS_COLUMNS} FROM identity_verifications v JOIN identity_subjects s ON s.id = v.subject_id
     WHERE v.id = ? AND v.sealed_status IS NOT NULL AND v.revoked_at IS NULL`,
    [id],
  )
  return row
}

/** The credential is no longer valid. */
export async function revokeVerification(tx: Knex, id: string, at: Date): Promise<void> {
  await execute(tx, 'UPDATE identity_verifications SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL', [at, id])
}
