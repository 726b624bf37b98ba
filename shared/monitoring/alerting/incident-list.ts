import { type Micros, toSeconds } from '../../time.ts'
import type { ShownIncident } from './incident-page-view.ts'
import type { Severity } from './policy.ts'

/** States of the list; `open` is all but `resolved`. In the order of the list after `open`. */
export const LISTED_STATES = ['open', 'alerting', 'suppressed', 'acknowledged', 'resolved'] as const
type ListedState = (typeof LISTED_STATES)[number]

export interface IncidentFilter {
  state: ListedState | null
  checkId: number | null
  tag: string | null
  severity: Severity | null
  /** uuid */
  policy: string | null
  /** address of the assignee or of an acknowledger */
  person: string | null
  /** uuid of an incident: its members */
  lead: string | null
  /** part of the check's name, in any case */
  q: string | null
  from: Micros | null
  before: Micros | null
  beforeN: number | null
}

export const ANY_INCIDENT: IncidentFilter = {
  state: null,
  checkId: null,
  tag: null,
  severity: null,
  policy: null,
  person: null,
  lead: null,
  q: null,
  from: null,
  before: null,
  beforeN: null,
}

/** Partitions incidents: an open one that is not acknowledged is suppressed or alerting. */
export function listedState({
  state,
  suppression,
}: Pick<ShownIncident, 'state' | 'suppression'>): Exclude<ListedState, 'open'> {
  if (state === 'resolved' || state === 'acknowledged') return state
  return suppression === null ? 'alerting' : 'suppressed'
}

/** Whole seconds from the flip to the end, or until now. */
export function durationOf({ downAt, resolvedAt }: Pick<ShownIncident, 'downAt' | 'resolvedAt'>, now: Micros): number {
  return Math.floor(toSeconds(Math.max(0, (resolvedAt ?? now) - downAt)))
}

export interface LastNotification {
  incidentId: string
  at: Micros
  name: string
  state: 'pending' | 'delivered' | 'failed' | 'suppressed'
  error: string
}
