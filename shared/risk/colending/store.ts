import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { columns, query, typed } from '../../platform/database/sql.ts'

/** An equal event waits for the commit. Returns the response that the partner got earlier; null if the event is new. */
export async function claimInboundEvent(tx: Knex, integrationId: string, sourceKey: Buffer): Promise<string | null> {
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
  reason: string | null
  loanRef: Buffer | null
  /** null if it could not be mapped */
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

/** Newest first. `loanRef` null is every loan; `before` is the seq of the last row. */
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
