import type { Knex } from 'knex'
import type { Owner } from '../../jobs/job.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Subject } from './subject.ts'

const COLUMNS = columns<Subject>()(`
  id, seq, organisation_id, env, ref, kind, state, sealed_external_ref, assurance_level, assurance_expires_at,
  created_at`)

export async function insertSubject(
  tx: Knex,
  owner: Owner,
  subject: Pick<Subject, 'id' | 'ref' | 'kind' | 'sealedExternalRef'>,
): Promise<void> {
  await execute(
    tx,
    'INSERT INTO identity_subjects (id, organisation_id, env, ref, kind, sealed_external_ref) VALUES (?, ?, ?, ?, ?, ?)',
    [subject.id, owner.organisationId, owner.env, subject.ref, subject.kind, subject.sealedExternalRef],
  )
}

export async function findSubject(db: Knex, owner: Owner, id: string): Promise<Subject | undefined> {
  const [row] = await query(
    db,
    typed`SELECT ${COLUMNS} FROM identity_subjects WHERE id = ? AND organisation_id = ? AND env = ?`,
    [id, owner.organisationId, owner.env],
  )
  return row
}

export async function lockSubject(tx: Knex.Transaction, owner: Owner, id: string): Promise<Subject | undefined> {
  const [row] = await query(
    tx,
    typed`SELECT ${COLUMNS} FROM identity_subjects WHERE id = ? AND organisation_id = ? AND env = ? FOR UPDATE`,
    [id, owner.organisationId, owner.env],
  )
  return row
}

/** Newest first. `before` is the `seq` of the last row of the previous page; null for the first page. */
export async function listSubjects(db: Knex, owner: Owner, before: number | null, limit: number): Promise<Subject[]> {
  return await query(
    db,
    typed`SELECT ${COLUMNS} FROM identity_subjects
     WHERE organisation_id = ? AND env = ? AND (?::bigint IS NULL OR seq < ?) ORDER BY seq DESC LIMIT ?`,
    [owner.organisationId, owner.env, before, before, limit],
  )
}

/** Locks verified subjects whose assurance has expired, earliest first. Skips rows locked by other transactions. */
export async function lockExpiredSubjects(tx: Knex.Transaction, at: Date, limit: number): Promise<Subject[]> {
  return await query(
    tx,
    typed`SELECT ${COLUMNS} FROM identity_subjects WHERE state = 'VERIFIED' AND assurance_expires_at <= ?
     ORDER BY assurance_expires_at LIMIT ? FOR UPDATE SKIP LOCKED`,
    [at, limit],
  )
}

export async function setAssurance(tx: Knex, id: string, level: string, expiresAt: Date | null): Promise<void> {
  await execute(tx, 'UPDATE identity_subjects SET assurance_level = ?, assurance_expires_at = ? WHERE id = ?', [
    level,
    expiresAt,
    id,
  ])
}

/** Changes the state and stores the change: `body` is its anchored object, `sealedReason` the reason of the caller. */
export async function insertTransition(
  tx: Knex,
  subjectId: string,
  transition: { id: string; to: string; body: string; sealedReason: string | null },
): Promise<void> {
  await execute(tx, 'UPDATE identity_subjects SET state = ? WHERE id = ?', [transition.to, subjectId])
  await execute(tx, 'INSERT INTO identity_transitions (id, subject_id, body, sealed_reason) VALUES (?, ?, ?, ?)', [
    transition.id,
    subjectId,
    transition.body,
    transition.sealedReason,
  ])
}

/** Returns the anchored objects of the newest 200 changes, newest first. */
export async function listTransitions(db: Knex, subjectId: string): Promise<string[]> {
  const rows = await query<{ body: string }>(
    db,
    'SELECT body FROM identity_transitions WHERE subject_id = ? ORDER BY seq DESC LIMIT 200',
    [subjectId],
  )
  return rows.map(({ body }) => body)
}
