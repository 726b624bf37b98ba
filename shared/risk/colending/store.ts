import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { columns, query, typed } from '../../platform/database/sql.ts'

/**
 * Claims an inbound event for the rest of this transaction; an equal one waits for the commit.
 * @returns the response that the partner got for it earlier; null if it is new
 */
export async function takeInbound(tx: Knex, integrationId: string, sourceKey: Buffer): Promise<string | null> {
  await query(tx, 'SELECT pg_advisory_xact_lock(hashtextextended(?, 11))', [
    `${integrationId}/${sourceKey.toString('hex')}`,
  ])
  const rows = await query<{ answer: string }>(
    tx,
    'SELECT answer FROM colending_events WHERE integration_id = ? AND source_key = ?',
    [integrationId, sourceKey],
  )
  return rows[0]?.answer ?? null
}

export interface InboundEvent {
  id: string
  organisationId: number
  env: ApiEnv
  integrationId: string
  sourceKey: Buffer
  mapping: string
  sourceEvent: string | null
  /** why it could not be mapped; null when it was */
  reason: string | null
  loanRef: Buffer | null
  /** the canonical contract; null when it could not be mapped */
  body: string | null
  answer: string
  receivedAt: string
}

export async function insertInbound(tx: Knex, event: InboundEvent): Promise<void> {
  await query(
    tx,
    `INSERT INTO colending_events (id, organisation_id, env, integration_id, source_key, mapping, source_event, reason,
       loan_ref, body, answer, received_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      event.id,
      event.organisationId,
      event.env,
      event.integrationId,
      event.sourceKey,
      event.mapping,
      event.sourceEvent,
      event.reason,
      event.loanRef,
      event.body,
      event.answer,
      event.receivedAt,
    ],
  )
}

const EVIDENCE_COLUMNS = columns<{ seq: number; body: string }>({ seq: 'seq', body: 'body' })

/**
 * Returns evidence contracts, newest first.
 * @param page `loanRef` null is every loan; `before` is the seq of the last one seen
 */
export async function listEvidence(
  db: Knex,
  scope: { organisationId: number; env: ApiEnv },
  page: { loanRef: Buffer | null; before: number | null; limit: number },
): Promise<{ seq: number; body: string }[]> {
  return await query(
    db,
    typed`SELECT ${EVIDENCE_COLUMNS} FROM colending_events WHERE organisation_id = ? AND env = ? AND body IS NOT NULL
       AND (?::bytea IS NULL OR loan_ref = ?) AND (?::bigint IS NULL OR seq < ?) ORDER BY seq DESC LIMIT ?`,
    [scope.organisationId, scope.env, page.loanRef, page.loanRef, page.before, page.before, page.limit],
  )
}
