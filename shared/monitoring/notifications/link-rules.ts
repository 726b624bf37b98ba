import { type Micros, microsOfSeconds } from '../../time.ts'
import type { IncidentState, PendingReason } from '../alerting/incident.ts'
import type { Severity } from '../alerting/policy.ts'
import type { FlipReason } from './notification.ts'

export interface LinkedNotification {
  id: string
  integrationName: string
  projectId: number
  organisationId: number
}

export interface LinkedIncident {
  id: string
  name: string
  tz: string
  state: IncidentState
  severity: Severity
  suppression: PendingReason | null
  downAt: Micros
  resolvedAt: Micros | null
  ackAt: Micros | null
  ackBy: string | null
  ackVia: string | null
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

/** `ack_by` of an acknowledgement by the link in a message of an integration. */
export function linkedBy(integrationName: string): string {
  return `through ${integrationName}`
}

/** Returns true while an incident is open, and for seven days after the last end. */
export function isLinkShown(incidents: readonly LinkedIncident[], now: Micros): boolean {
  return incidents.some(({ resolvedAt }) => resolvedAt === null || now <= resolvedAt + SHOWN)
}

/** Returns true if the action changes the incident. Only the link that acknowledged may undo it. */
export function mayAct(action: LinkAction, incident: LinkedIncident, integrationName: string, now: Micros): boolean {
  const { state, ackAt, ackBy, ackVia } = incident
  if (action !== 'unack') return state === 'waiting' || state === 'alerting'
  const isOwn = ackVia === 'link' && ackBy === linkedBy(integrationName)
  return state === 'acknowledged' && isOwn && ackAt !== null && now <= ackAt + UNDO
}
