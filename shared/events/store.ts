import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { ANCHOR_NOTE, type AnchorBlock } from '../anchoring/leaf.ts'
import { anchorObject } from '../anchoring/store.ts'
import { canonicalize } from '../canonical/jcs.ts'
import type { ApiEnv } from '../oauth/access-token.ts'
import type { Enqueue } from '../platform/outbox.ts'
import { scheduleDeliveries } from '../webhooks/fan-out-store.ts'

/** Something that happened to an organisation's resource and that it may want to be told. */
export interface DomainEvent {
  env: ApiEnv
  organisationId: number
  /** such as `risk_signals.pack_ready` */
  type: string
  /** the caller's deal; else the id of the root resource */
  dealId: string
  /** names of what is disclosed, never values */
  fields: readonly string[]
  /** ISO 8601 UTC with milliseconds */
  occurredAt: string
}

/** What is sent to webhook endpoints: the contract's members and the event's id. */
export interface EventPayload {
  id: string
  event: string
  mode: 'sandbox' | 'live'
  dealId: string
  occurredAt: string
  fields: string[]
  anchor: AnchorBlock
}

/**
 * Stores an event, its anchor and a delivery for each subscribed endpoint in the caller's transaction. `body` is the
 * canonical payload: the bytes that every endpoint is sent and that are signed.
 */
export async function recordEvent(
  tx: Knex.Transaction,
  enqueue: Enqueue,
  event: DomainEvent,
): Promise<{ id: string; payload: EventPayload; body: string }> {
  const id = randomUUID()
  const object = {
    id,
    event: event.type,
    mode: event.env === 'SANDBOX' ? ('sandbox' as const) : ('live' as const),
    dealId: event.dealId,
    occurredAt: event.occurredAt,
    fields: [...event.fields],
  }
  const anchor = await anchorObject(tx, event.env, event.type, event.occurredAt, object, ANCHOR_NOTE)
  const payload: EventPayload = { ...object, anchor }
  const body = canonicalize(payload)
  await tx.raw(
    'INSERT INTO events (id, organisation_id, env, type, deal_id, body, occurred_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
    [id, event.organisationId, event.env, event.type, event.dealId, body, event.occurredAt],
  )
  await scheduleDeliveries(tx, enqueue, { id, ...event })
  return { id, payload, body }
}
