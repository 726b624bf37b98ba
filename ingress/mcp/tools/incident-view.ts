import { z } from 'zod'
import { decisionText } from '#shared/monitoring/alerting/decision-text.ts'
import type { ShownIncident, TimelineRow } from '#shared/monitoring/alerting/incident-page-view.ts'
import { type Micros, toIsoSeconds } from '#shared/time.ts'
import { UntrustedSchema, untrusted } from '../tool.ts'

/** An incident for agents: texts of users are marked. */
export const IncidentSchema = z.object({
  incidentId: z.string(),
  checkId: z.string(),
  name: UntrustedSchema,
  state: z.enum(['waiting', 'alerting', 'acknowledged', 'resolved']),
  severity: z.string(),
  downAt: z.string(),
  alertAt: z.string().nullable(),
  resolvedAt: z.string().nullable(),
  resolution: z.string().nullable(),
  flips: z.int(),
  failures: z.int(),
  flapping: z.boolean(),
  suppression: z.string().nullable(),
  assignee: UntrustedSchema.nullable(),
  acknowledged: z.object({ at: z.string(), by: UntrustedSchema, until: z.string().nullable() }).nullable(),
  nextAt: z.string().nullable(),
  exhausted: z.boolean().describe('no further notification follows until the check is up again'),
  report: UntrustedSchema,
  previous: z.string().nullable(),
})

/** The members depend on the kind of event. */
export const TimelineSchema = z.object({
  timestamp: z.string(),
  kind: z.enum(['flip', 'decision', 'notification', 'action', 'gap']),
  what: z.string(),
  why: z.string().optional(),
  about: UntrustedSchema.optional(),
  integration: UntrustedSchema.optional(),
  outcome: z.string().optional(),
  attempts: z.int().optional(),
  error: UntrustedSchema.optional(),
  by: UntrustedSchema.optional(),
  text: UntrustedSchema.optional(),
})

const instant = (at: Micros | null) => (at === null ? null : toIsoSeconds(at))

export function incidentForAgents(incident: ShownIncident): z.infer<typeof IncidentSchema> {
  const { ackAt, assignee } = incident
  const isAcknowledged = incident.state === 'acknowledged' && ackAt !== null
  return {
    incidentId: incident.id,
    checkId: incident.checkUuid,
    name: untrusted('owner of the check', incident.name),
    state: incident.state,
    severity: incident.severity,
    downAt: toIsoSeconds(incident.downAt),
    alertAt: instant(incident.alertAt),
    resolvedAt: instant(incident.resolvedAt),
    resolution: incident.resolution,
    flips: incident.flips,
    failures: incident.failures,
    flapping: incident.flapping,
    suppression: incident.suppression,
    assignee: assignee === null ? null : untrusted(PEOPLE, assignee),
    acknowledged: isAcknowledged
      ? { at: toIsoSeconds(ackAt), by: untrusted(PEOPLE, incident.ackBy ?? ''), until: instant(incident.ackUntil) }
      : null,
    nextAt: instant(incident.nextAt),
    exhausted: incident.isExhausted,
    report: untrusted(PEOPLE, incident.report),
    previous: incident.previous,
  }
}

const PEOPLE = 'people of the project'

/** Returns null for failures, which agents read from the check. */
export function timelineForAgents({ at, kind, what, detail }: TimelineRow): z.infer<typeof TimelineSchema> | null {
  if (kind === 'failure') return null
  const common = { timestamp: toIsoSeconds(at), kind, what }
  switch (kind) {
    case 'flip':
      return { ...common, why: textOf(detail.reason) }
    case 'decision': {
      // Names in a decision are untrusted, so the sentence omits them and returns them separately.
      const { name, ...facts } = (detail.detail ?? {}) as Readonly<Record<string, string | number>>
      const why = decisionText({ outcome: what, reason: textOf(detail.reason), detail: facts })
      return { ...common, why, ...(typeof name === 'string' && { about: untrusted('owner of the check', name) }) }
    }
    case 'notification':
      return {
        ...common,
        integration: untrusted('owner of the integration', textOf(detail.name)),
        outcome: textOf(detail.state),
        attempts: Number(detail.attempts ?? 0),
        ...(textOf(detail.error) !== '' && { error: untrusted('receiver of the message', textOf(detail.error)) }),
      }
    case 'gap':
      return { ...common, why: `signals could not be taken: ${textOf(detail.cause)}` }
    case 'action':
      return { ...common, by: untrusted(PEOPLE, textOf(detail.by)), text: untrusted(PEOPLE, textOf(detail.text)) }
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
