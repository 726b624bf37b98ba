import { type Micros, microsOfSeconds } from '../../time.ts'
import type { Incident } from './incident.ts'

/** The part of an incident that people change. The alerter evaluates it afterwards. */
export interface ActedIncident extends Pick<Incident, 'state' | 'alertAt' | 'ack' | 'isEscalating'> {
  assignee: string | null
  /** address of the assignee, if the next evaluation must notify that person */
  reassigned?: string | null
}

export type IncidentAct =
  /** with `seconds` a snooze */
  | { kind: 'ack'; by: string; via: string; seconds: number | null }
  | { kind: 'take'; person: string; via: string }
  | { kind: 'unack' }
  | { kind: 'escalate' }
  /** with `notify` the person gets notifications, and an acknowledgement ends */
  | { kind: 'assign'; to: string | null; notify: boolean }

interface ActFacts {
  now: Micros
  /** seconds; null if acknowledgements do not expire */
  ackTimeout: number | null
  /** the plan has a step that was not sent */
  hasFurtherStep: boolean
}

/** `changed` null: nothing changes, for example for a second acknowledgement. */
export type Acted = { conflict: string } | { changed: ActedIncident | null }

/** A pure function of the state table (docs/spec/alerting.md#incidents). */
export function decideAct(incident: ActedIncident, act: IncidentAct, facts: ActFacts): Acted {
  const { state, ack } = incident
  if (state === 'resolved' && act.kind !== 'assign') return { conflict: 'incident is resolved' }
  switch (act.kind) {
    case 'ack': {
      const { by, via, seconds } = act
      if (ack && seconds === null && !ack.isSnooze) return { changed: null }
      return { changed: acknowledged(incident, { by, via, seconds }, facts) }
    }
    case 'take': {
      const { person, via } = act
      const isTaken = ack?.by === person && !ack.isSnooze && incident.assignee === person
      if (isTaken) return { changed: null }
      return { changed: { ...acknowledged(incident, { by: person, via, seconds: null }, facts), assignee: person } }
    }
    case 'unack':
      return ack ? { changed: unacknowledged(incident) } : { conflict: 'incident is not acknowledged' }
    case 'escalate':
      if (incident.isEscalating) return { changed: null }
      if (!facts.hasFurtherStep) return { conflict: 'no further step' }
      return { changed: { ...unacknowledged(incident), isEscalating: true } }
    case 'assign': {
      const { to, notify } = act
      if (to === null || !notify || state === 'resolved') return { changed: { ...incident, assignee: to } }
      return { changed: { ...unacknowledged(incident), isEscalating: false, assignee: to, reassigned: to } }
    }
  }
}

function acknowledged(
  incident: ActedIncident,
  { by, via, seconds }: { by: string; via: string; seconds: number | null },
  { now, ackTimeout }: ActFacts,
): ActedIncident {
  const length = seconds ?? ackTimeout
  const until = length === null ? null : now + microsOfSeconds(length)
  return { ...incident, state: 'acknowledged', ack: { at: now, by, via, until, isSnooze: seconds !== null } }
}

function unacknowledged(incident: ActedIncident): ActedIncident {
  return { ...incident, state: incident.alertAt === null ? 'waiting' : 'alerting', ack: null }
}

type MergedIncident = Pick<Incident, 'id' | 'state' | 'leadId'>

/** Members of a group besides its lead. */
export const MAX_MEMBERS = 500

/** Returns the conflict of a merge; null if it is possible. `openLeadId` is the open lead of `into`. */
export function decideMerge(
  incident: MergedIncident,
  into: MergedIncident & { openLeadId: string | null },
  members: number,
): string | null {
  if (incident.state === 'resolved' || into.state === 'resolved') return 'incident is resolved'
  if (into.openLeadId !== null) return 'is a member of another incident'
  return members > MAX_MEMBERS ? `more than ${MAX_MEMBERS} members` : null
}
