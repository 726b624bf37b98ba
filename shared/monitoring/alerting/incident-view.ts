import { type Micros, toIsoSeconds } from '../../time.ts'
import { uniqueKey } from '../checks/slug.ts'
import { decisionText, integrationText, outcomeOf, personText } from './decision-text.ts'
import { durationOf } from './incident-list.ts'
import type { ShownDecision, ShownIncident } from './incident-page-view.ts'

const instant = (at: Micros | null) => (at === null ? null : toIsoSeconds(at))

export function incidentView(incident: ShownIncident, now: Micros) {
  const { ackAt } = incident
  return {
    id: incident.id,
    check: incident.checkUuid,
    ...common(incident, now),
    policy: incident.policyUuid,
    assignee: incident.assignee,
    ack:
      incident.state !== 'acknowledged' || ackAt === null
        ? null
        : {
            at: toIsoSeconds(ackAt),
            by: incident.ackBy ?? '',
            via: incident.ackVia,
            until: instant(incident.ackUntil),
          },
    ack_seconds: incident.ackSeconds,
    next: instant(incident.nextAt),
    report: incident.report,
    previous: incident.previous,
    lead: incident.leadId,
    members: incident.members,
  }
}

/** Omits the check's uuid, which permits pings, and names of people. */
export function reducedIncidentView(incident: ShownIncident, now: Micros) {
  return {
    id: incident.id,
    unique_key: uniqueKey(incident.checkUuid),
    ...common(incident, now),
    previous: incident.previous,
  }
}

function common(incident: ShownIncident, now: Micros) {
  return {
    name: incident.name,
    state: incident.state,
    severity: incident.severity,
    down_at: toIsoSeconds(incident.downAt),
    alert_at: instant(incident.alertAt),
    resolved_at: instant(incident.resolvedAt),
    resolution: incident.resolution,
    duration: durationOf(incident, now),
    flips: incident.flips,
    failures: incident.failures,
    flapping: incident.flapping,
    suppression: incident.suppression,
    exhausted: incident.isExhausted,
  }
}

export function decisionView(decision: ShownDecision, names: ReadonlyMap<string, string>) {
  const { flipAt, flipTo } = decision
  return {
    at: toIsoSeconds(decision.at),
    flip: flipAt === null ? null : { timestamp: toIsoSeconds(flipAt), up: flipTo === 'up' ? 1 : 0 },
    incident: decision.incidentId,
    outcome: decision.outcome,
    reason: decision.reason,
    detail: decision.detail,
    until: instant(decision.until),
    text: decisionText(decision),
    people: decision.people.map((one) => ({ ...one, text: personText(one) })),
    channels: decision.channels.map((integration) => ({
      id: integration.id,
      ...outcomeOf(integration),
      delivery: integration.delivery,
      text: integrationText(integration, names.get(integration.id) ?? 'A deleted integration', decision),
    })),
  }
}
