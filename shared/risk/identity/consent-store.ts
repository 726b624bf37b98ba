import type { Knex } from 'knex'
import type { Owner } from '../../jobs/job.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Consent } from './consent.ts'

const COLUMNS = columns<Consent>()('id, seq, subject_id, purpose, fields, expires_at, withdrawn_at, record, withdrawal')

export async function insertConsent(
  tx: Knex,
  owner: Owner,
  consent: Pick<Consent, 'id' | 'subjectId' | 'purpose' | 'fields' | 'expiresAt' | 'record'>,
): Promise<void> {
  await execute(
    tx,
    `INSERT INTO consents (id, organisation_id, env, subject_id, purpose, fields, expires_at, record)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      consent.id,
      owner.organisationId,
      owner.env,
      consent.subjectId,
      consent.purpose,
      consent.fields,
      consent.expiresAt,
      consent.record,
    ],
  )
}

export async function findConsent(db: Knex, owner: Owner, id: string): Promise<Consent | undefined> {
  const [row] = await query(
    db,
    typed`SELECT ${COLUMNS} FROM consents WHERE id = ? AND organisation_id = ? AND env = ?`,
    [id, owner.organisationId, owner.env],
  )
  return row
}

/** Newest first. `subjectId` null means all. */
export async function listConsents(
  db: Knex,
  owner: Owner,
  { subjectId, before, limit }: { subjectId: string | null; before: number | null; limit: number },
): Promise<Consent[]> {
  return await query(
    db,
    typed`SELECT ${COLUMNS} FROM consents WHERE organisation_id = ? AND env = ? AND (?::uuid IS NULL OR subject_id = ?)
       AND (?::bigint IS NULL OR seq < ?) ORDER BY seq DESC LIMIT ?`,
    [owner.organisationId, owner.env, subjectId, subjectId, before, before, limit],
  )
}

/** Returns false when it was withdrawn before. */
export async function setWithdrawn(tx: Knex, id: string, at: Date, withdrawal: string): Promise<boolean> {
  const changed = await execute(
    tx,
    'UPDATE consents SET withdrawn_at = ?, withdrawal = ? WHERE id = ? AND withdrawn_at IS NULL',
    [at, withdrawal, id],
  )
  return changed === 1
}
