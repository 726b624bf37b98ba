import { type Micros, microsOfSeconds } from '../../time.ts'
import type { IncidentState } from '../alerting/incident.ts'
import type { Severity } from '../alerting/policy.ts'
import type { PendingReason } from '../alerting/reasons.ts'
import type { ContactKind } from '../contacts/contact-kinds.ts'
import type { FlipReason } from './notification.ts'

/** A person acts with their address, by the kind of the contact method. An integration acts with its name. */
export type LinkHolder =
  | { userId: number; email: string; kind: ContactKind }
  | { userId: null; integrationName: string }

export interface LinkedNotification {
  id: string
  /** time zone that the person has chosen; null for an integration, and for a person without a choice */
  tz: string | null
  holder: LinkHolder
}

export interface LinkedIncident {
  id: string
  projectId: number
  organisationId: number
  name: string
  tz: string
  state: IncidentState
  severity: Severity
  suppression: PendingReason | null
  /** nothing is left to send, not even a fallback */
  isExhausted: boolean
  downAt: Micros
  resolvedAt: Micros | null
  ackAt: Micros | null
  ackBy: string | null
  ackVia: string | null
  /** of the account; null unless the acknowledger is a member with a name */
  ackName: string | null
  ackUntil: Micros | null
  reason: FlipReason
  /** of the last failure; null if it reported none */
  exitStatus: number | null
}

export interface NotifiedName {
  name: string
  state: 'pending' | 'delivered' | 'failed' | 'suppressed'
}

export const LINK_ACTIONS = ['ack', 'snooze', 'escalate', 'unack'] as const
export type LinkAction = (typeof LINK_ACTIONS)[number]

export const SNOOZE_SECONDS = 3600
const UNDO: Micros = microsOfSeconds(600)
/** The link shows the outcome for this time after the end. */
const SHOWN: Micros = microsOfSeconds(7 * 86_400)

/** Returns `ack_by` and `ack_via` of an acknowledgement by the link. */
export function linkedBy(holder: LinkHolder): { by: string; via: ContactKind | 'link' } {
  if (holder.userId === null) return { by: `through ${holder.integrationName}`, via: 'link' }
  return { by: holder.email, via: holder.kind }
}

/** Returns true while an incident is open, and for seven days after the last end. */
export function isLinkShown(incidents: readonly LinkedIncident[], now: Micros): boolean {
  return incidents.some(({ resolvedAt }) => resolvedAt === null || now <= resolvedAt + SHOWN)
}

/** Returns true if the action changes the incident. Only links of the holder that acknowledged may undo it. */
export function mayAct(action: LinkAction, incident: LinkedIncident, holder: LinkHolder, now: Micros): boolean {
  const { state, ackAt, ackBy, ackVia } = incident
  if (action !== 'unack') return state === 'waiting' || state === 'alerting'
  const own = linkedBy(holder)
  const isOwn = ackVia === own.via && ackBy === own.by
  return state === 'acknowledged' && isOwn && ackAt !== null && now <= ackAt + UNDO
}
