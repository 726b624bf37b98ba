import { canonicalize } from '../../canonical/jcs.ts'
import type { ApiEnv } from '../../environment.ts'
import { ANCHOR_NOTE, type AnchorBlock, anchorObject } from '../../transparency/anchoring/leaf.ts'

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

/** An event as it is stored: its payload, the payload's canonical bytes, and the entry that anchors it. */
export interface AnchoredEvent {
  id: string
  payload: EventPayload
  /** the canonical payload: the bytes that every endpoint is sent and that are signed */
  body: string
  entry: Uint8Array
}

/** @param id random: it also makes the payload's hash unguessable */
export function anchorEvent(id: string, event: DomainEvent): AnchoredEvent {
  const object = {
    id,
    event: event.type,
    mode: event.env === 'SANDBOX' ? ('sandbox' as const) : ('live' as const),
    dealId: event.dealId,
    occurredAt: event.occurredAt,
    fields: [...event.fields],
  }
  const { anchor, entry } = anchorObject(object, { eventType: event.type, timestamp: event.occurredAt }, ANCHOR_NOTE)
  const payload: EventPayload = { ...object, anchor }
  return { id, payload, body: canonicalize(payload), entry }
}
