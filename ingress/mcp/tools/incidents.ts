import { z } from 'zod'
import { ValidationError } from '#shared/errors.ts'
import { readText } from '#shared/monitoring/alerting/fields.ts'
import { ANY_INCIDENT } from '#shared/monitoring/alerting/incident-list.ts'
import { listIncidents } from '#shared/monitoring/alerting/incident-list-store.ts'
import { timelineOf } from '#shared/monitoring/alerting/timeline-store.ts'
import { acknowledgeIncident } from '#shared/monitoring/operations/incidents.ts'
import { defineTool, IDEMPOTENT, READ_ONLY } from '../tool.ts'
import { checkOf, incidentOf, ProjectInput, projectOf } from './check-view.ts'
import { IncidentSchema, incidentForAgents, TimelineSchema, timelineForAgents } from './incident-view.ts'

const MAX_LIST = 50
const MAX_TIMELINE = 200

const IncidentInput = z.object({ incidentId: z.string().describe('uuid of an incident') })

export const incidentsList = defineTool({
  name: 'incidents_list',
  title: 'List incidents',
  description: 'Outages of the checks of a project, newest first, 50 at a time.',
  scope: 'monitoring:read',
  annotations: READ_ONLY,
  input: z.strictObject({
    project: ProjectInput,
    state: z.enum(['open', 'resolved']).optional(),
    checkId: z.string().optional().describe('only those of this check'),
    before: z.string().optional().describe('`next` of the page before'),
  }),
  output: z.object({ incidents: z.array(IncidentSchema), next: z.string().nullable() }),
  async run({ project, state = null, checkId, before }, call) {
    const { id } = await projectOf(project, call)
    const check = checkId === undefined ? null : await checkOf(checkId, call)
    const filter = { ...ANY_INCIDENT, state, checkId: check?.id ?? null, beforeN: positionOf(before) }
    const rows = await listIncidents(call.deps.db, check?.project.id ?? id, filter, MAX_LIST + 1)
    const shown = rows.slice(0, MAX_LIST)
    const next = rows.length > MAX_LIST ? String(shown.at(-1)?.n) : null
    return { incidents: shown.map(incidentForAgents), next }
  },
})

export const incidentGet = defineTool({
  name: 'incident_get',
  title: 'Read an incident',
  description:
    'One outage of one check, and what happened in it, oldest first, at most 200: changes, decisions, messages, and what ' +
    'people did.',
  scope: 'monitoring:read',
  annotations: READ_ONLY,
  input: IncidentInput,
  output: IncidentSchema.extend({ timeline: z.array(TimelineSchema) }),
  async run({ incidentId }, call) {
    const { incident } = await incidentOf(incidentId, call)
    const timeline = await timelineOf(call.deps.db, incident, { limit: MAX_TIMELINE })
    return { ...incidentForAgents(incident), timeline: timeline.flatMap((row) => timelineForAgents(row) ?? []) }
  },
})

export const incidentAcknowledge = defineTool({
  name: 'incident_acknowledge',
  title: 'Acknowledge an incident',
  description:
    'An acknowledged incident sends no further notifications until it is resolved; the audit names the key. Acknowledging an ' +
    'acknowledged one changes nothing.',
  scope: 'monitoring:write',
  annotations: IDEMPOTENT,
  input: IncidentInput.extend({ note: z.string().optional().describe('at most 2,000 characters') }),
  output: IncidentSchema,
  async run({ incidentId, note = '' }, call) {
    const { project } = await incidentOf(incidentId, call)
    const own = { project, id: incidentId, by: '', note: readText(note, 'note', { max: 2000 }), via: 'agent' } as const
    return incidentForAgents(await acknowledgeIncident(call.deps.db, call.caller.actor, own, call.deps))
  },
})

/** @throws ValidationError if `before` is not a cursor */
function positionOf(before: string | undefined): number | null {
  if (before === undefined) return null
  if (/^[0-9]{1,15}$/.test(before)) return Number(before)
  const message = 'before must be the value of next'
  throw new ValidationError(message, [{ path: 'before', code: 'FORMAT', message }])
}
