import { canonicalize } from '../../canonical/jcs.ts'
import type { ApiEnv } from '../../environment.ts'
import { ANCHOR_NOTE, type AnchorBlock, anchorObject } from '../../transparency/anchoring/leaf.ts'

export interface DomainEvent {
  env: ApiEnv
  organisationId: number
  type: string
  /** the caller's deal, otherwise the id of the root resource */
  dealId: string
  /** names of the disclosed fields, never values */
  fields: readonly string[]
  /** ISO 8601 UTC with milliseconds */
  occurredAt: string
}

export interface EventPayload {
  id: string
  event: string
  mode: 'sandbox' | 'live'
  dealId: string
  occurredAt: string
  fields: string[]
  anchor: AnchorBlock
}

export interface AnchoredEvent {
  id: string
  payload: EventPayload
  /** canonical: the exact bytes of each delivery, which are signed */
  body: string
  entry: Uint8Array
}

/** `id` is random, so that the payload's hash cannot be guessed. */
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
