import type { Knex } from 'knex'
import { columns, query, typed } from '../platform/database/sql.ts'
import type { DeliveryState } from './endpoint.ts'
import type { EndpointScope } from './endpoint-store.ts'

/** `body` is canonical: the exact bytes of each delivery. */
export interface StoredPayload {
  id: string
  body: string
  occurredAt: Date
}

export interface EventPage extends EndpointScope {
  type: string | null
  readable: readonly string[]
  dealId: string | null
  before: { occurredAt: string; id: string } | null
  limit: number
}

const STORED_PAYLOAD_COLUMNS = columns<StoredPayload>({ id: 'id', body: 'body', occurredAt: 'occurred_at' })

/** Newest first, with or without subscribers. */
export async function listEvents(db: Knex, page: EventPage): Promise<StoredPayload[]> {
  return await query(
    db,
    typed`SELECT ${STORED_PAYLOAD_COLUMNS} FROM events
     WHERE organisation_id = ? AND env = ? AND type = ANY(?::text[])
       AND (?::text IS NULL OR type = ?) AND (?::text IS NULL OR deal_id = ?)
       AND (?::uuid IS NULL OR (occurred_at, id) < (?::timestamptz, ?::uuid))
     ORDER BY occurred_at DESC, id DESC LIMIT ?`,
    [
      page.organisationId,
      page.env,
      page.readable,
      page.type,
      page.type,
      page.dealId,
      page.dealId,
      page.before?.id ?? null,
      page.before?.occurredAt ?? null,
      page.before?.id ?? null,
      page.limit,
    ],
  )
}

export interface SignedDelivery {
  id: string
  eventId: string
  endpointId: string
  url: string
  state: DeliveryState
  /** null until signed, shortly after the event */
  headers: Record<string, string> | null
}

const SIGNED_DELIVERY_COLUMNS = columns<SignedDelivery>()(`
  d.id, d.event_id, d.endpoint_id, e.url, d.state, d.signed_headers AS headers`)

export async function signedDeliveries(db: Knex, eventIds: readonly string[]): Promise<SignedDelivery[]> {
  if (eventIds.length === 0) return []
  return await query(
    db,
    typed`SELECT ${SIGNED_DELIVERY_COLUMNS} FROM webhook_deliveries d JOIN webhook_endpoints e ON e.id = d.endpoint_id
     WHERE d.event_id = ANY(?::uuid[]) ORDER BY d.seq`,
    [eventIds],
  )
}
