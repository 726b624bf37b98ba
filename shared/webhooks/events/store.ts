import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import type { Enqueue } from '../../platform/broker/outbox.ts'
import { execute } from '../../platform/database/sql.ts'
import { insertEntry } from '../../transparency/anchoring/store.ts'
import { scheduleDeliveries } from '../fan-out-store.ts'
import { anchorEvent, type DomainEvent, type EventPayload } from './event.ts'

/** Includes its anchor and deliveries. `writes` is for statements without a result. */
export async function recordEvent(
  tx: Knex.Transaction,
  enqueue: Enqueue,
  event: DomainEvent,
  writes = tx,
): Promise<{ id: string; payload: EventPayload; body: string }> {
  const { id, payload, body, entry } = anchorEvent(randomUUID(), event)
  await insertEntry(writes, event.env, payload.anchor.txId, entry)
  await execute(
    writes,
    'INSERT INTO events (id, organisation_id, env, type, deal_id, body, occurred_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
    [id, event.organisationId, event.env, event.type, event.dealId, body, event.occurredAt],
  )
  await scheduleDeliveries(tx, enqueue, { id, ...event })
  return { id, payload, body }
}
