import type { Knex } from 'knex'
import type { Owner } from '../../jobs/job.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Dispute } from './dispute.ts'

const COLUMNS = columns<Dispute>()(`
  id, registration_id, holder_id, organisation_id, env, state, record, opened_at, answer_by`)

/** Returns false when this organisation disputes the registration already. */
export async function insertDispute(
  tx: Knex,
  dispute: Omit<Dispute, 'state'> & { sealedReason: string },
): Promise<boolean> {
  const inserted = await execute(
    tx,
    `INSERT INTO financing_disputes
       (id, registration_id, holder_id, organisation_id, env, sealed_reason, state, record, answer_by, opened_at)
     VALUES (?, ?, ?, ?, ?, ?, 'OPEN', ?, ?, ?) ON CONFLICT DO NOTHING`,
    [
      dispute.id,
      dispute.registrationId,
      dispute.holderId,
      dispute.organisationId,
      dispute.env,
      dispute.sealedReason,
      dispute.record,
      dispute.answerBy,
      dispute.openedAt,
    ],
  )
  return inserted === 1
}

/** Only for the two sides of the dispute. */
export async function findDispute(db: Knex, owner: Owner, id: string): Promise<Dispute | undefined> {
  const [row] = await query(
    db,
    typed`SELECT ${COLUMNS} FROM financing_disputes WHERE id = ? AND env = ? AND (organisation_id = ? OR holder_id = ?)`,
    [id, owner.env, owner.organisationId, owner.organisationId],
  )
  return row
}

export async function answerDispute(tx: Knex, id: string, state: 'CONFIRMED' | 'RELEASED'): Promise<boolean> {
  const changed = await execute(
    tx,
    `UPDATE financing_disputes SET state = ?, answered_at = now() WHERE id = ? AND state = 'OPEN'`,
    [state, id],
  )
  return changed === 1
}

const DISPUTES_COLUMNS = columns<Pick<Dispute, 'id' | 'state' | 'openedAt' | 'answerBy'>>()(`
  id, state, opened_at, answer_by`)

export async function listDisputes(
  db: Knex,
  registrationId: string,
): Promise<Pick<Dispute, 'id' | 'state' | 'openedAt' | 'answerBy'>[]> {
  return await query(
    db,
    typed`SELECT ${DISPUTES_COLUMNS} FROM financing_disputes
     WHERE registration_id = ? ORDER BY opened_at DESC LIMIT 50`,
    [registrationId],
  )
}

/** Ends disputes that were not answered in time. Returns their registrations. */
export async function endUnansweredDisputes(tx: Knex.Transaction, limit: number): Promise<string[]> {
  const rows = await query<{ registrationId: string }>(
    tx,
    `UPDATE financing_disputes SET state = 'UNANSWERED' WHERE id IN (
       SELECT id FROM financing_disputes WHERE state = 'OPEN' AND answer_by <= now()
       ORDER BY answer_by LIMIT ? FOR UPDATE SKIP LOCKED)
     RETURNING registration_id AS "registrationId"`,
    [limit],
  )
  return rows.map(({ registrationId }) => registrationId)
}
