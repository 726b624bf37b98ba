import type { Knex } from 'knex'
import { execute, query } from '../../platform/database/sql.ts'
import { deleteValues } from './presentation-store.ts'

export interface ErasedCounts {
  values: number
  identifiers: number
  reasons: number
}

/** Undefined before an erasure. */
export async function findErasure(db: Knex, subjectId: string): Promise<string | undefined> {
  const [row] = await query<{ body: string }>(db, 'SELECT body FROM erasures WHERE subject_id = ?', [subjectId])
  return row?.body
}

export async function insertErasure(tx: Knex, subjectId: string, body: string, at: Date): Promise<void> {
  await execute(tx, 'INSERT INTO erasures (subject_id, body, erased_at) VALUES (?, ?, ?)', [subjectId, body, at])
}

/** Also expires its open presentations. */
export async function eraseValues(tx: Knex.Transaction, subjectId: string, at: Date): Promise<ErasedCounts> {
  const own = `SELECT id FROM presentations WHERE subject_id = ?
    UNION SELECT presentation_id FROM identity_verifications WHERE subject_id = ? AND presentation_id IS NOT NULL`
  const values = await deleteValues(tx, own, [subjectId, subjectId])
  await execute(
    tx,
    `UPDATE presentations SET state = 'EXPIRED', sealed_form = NULL, finished_at = ?
     WHERE subject_id = ? AND state IN ('CREATED', 'REQUEST_FETCHED', 'RECEIVED')`,
    [at, subjectId],
  )
  const identifiers = await execute(
    tx,
    `UPDATE identity_verifications SET sealed_values = NULL, sealed_status = NULL
     WHERE subject_id = ? AND (sealed_values IS NOT NULL OR sealed_status IS NOT NULL)`,
    [subjectId],
  )
  const references = await execute(
    tx,
    'UPDATE identity_subjects SET sealed_external_ref = NULL WHERE id = ? AND sealed_external_ref IS NOT NULL',
    [subjectId],
  )
  const transitions = await execute(
    tx,
    'UPDATE identity_transitions SET sealed_reason = NULL WHERE subject_id = ? AND sealed_reason IS NOT NULL',
    [subjectId],
  )
  const passports = await execute(
    tx,
    'UPDATE passports SET sealed_reason = NULL WHERE subject_id = ? AND sealed_reason IS NOT NULL',
    [subjectId],
  )
  return { values, identifiers: identifiers + references, reasons: transitions + passports }
}
