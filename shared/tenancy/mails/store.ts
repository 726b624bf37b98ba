import type { Knex } from 'knex'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'

/** After this time an attempt counts as failed, because its process died. */
const LEASE = '2 minutes'
/** An unsent message is published again after this time. */
const QUEUED = '1 minute'

export async function insertMail(tx: Knex, mail: { id: string; sealedMail: string }): Promise<void> {
  await execute(
    tx,
    'INSERT INTO outgoing_mails (id, sealed_mail, queued_until) VALUES (?, ?, clock_timestamp() + ?::interval)',
    [mail.id, mail.sealedMail, QUEUED],
  )
}

export interface ClaimedMail {
  sealedMail: string
  attempts: number
}

const CLAIMED_MAIL_COLUMNS = columns<ClaimedMail>({ sealedMail: 'sealed_mail', attempts: 'attempts' })

/** Null when the mail was sent, abandoned, or is being sent by another process. */
export async function claimMail(db: Knex, id: string): Promise<ClaimedMail | null> {
  const rows = await query(
    db,
    typed`UPDATE outgoing_mails SET attempts = attempts + 1, next_attempt_at = now() + ?::interval
     WHERE id = ? AND next_attempt_at <= now() RETURNING ${CLAIMED_MAIL_COLUMNS}`,
    [LEASE, id],
  )
  return rows[0] ?? null
}

export async function postponeMail(db: Knex, id: string, ms: number): Promise<void> {
  await execute(
    db,
    `UPDATE outgoing_mails SET next_attempt_at = now() + make_interval(secs => ?::float8 / 1000), queued_until = now()
     WHERE id = ?`,
    [ms, id],
  )
}

export async function deleteMail(db: Knex, id: string): Promise<void> {
  await execute(db, 'DELETE FROM outgoing_mails WHERE id = ?', [id])
}

/** The caller publishes the ids again. */
export async function claimDueMails(tx: Knex, limit: number): Promise<string[]> {
  const rows = await query<{ id: string }>(
    tx,
    `UPDATE outgoing_mails SET queued_until = now() + ?::interval
     WHERE id IN (SELECT id FROM outgoing_mails WHERE next_attempt_at <= now() AND queued_until <= now()
                  ORDER BY next_attempt_at LIMIT ? FOR UPDATE SKIP LOCKED)
     RETURNING id`,
    [QUEUED, limit],
  )
  return rows.map(({ id }) => id)
}
