import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import {
  invalid,
  isPresent,
  readBoolean,
  readList,
  readNumber,
  readText,
  refuseUnknown,
} from '#shared/monitoring/alerting/fields.ts'
import type { ShownIncident } from '#shared/monitoring/alerting/incident-page-view.ts'
import { findIncident } from '#shared/monitoring/alerting/incident-read-store.ts'
import { incidentView } from '#shared/monitoring/alerting/incident-view.ts'
import type { JsonObject } from '#shared/monitoring/checks/json-body.ts'
import {
  acknowledgeIncident,
  acknowledgeIncidents,
  assignIncident,
  escalateIncident,
  type IncidentOfProject,
  noteIncident,
  reportIncident,
  takeIncident,
  unacknowledgeIncident,
} from '#shared/monitoring/operations/incidents.ts'
import { mergeIncident, unmergeIncident } from '#shared/monitoring/operations/merged-incidents.ts'
import { isUuid, UUID_PATTERN } from '#shared/uuid.ts'
import type { Route } from '../route.ts'
import { incidentSchema } from './alerting-schemas.ts'
import { type Context, write } from './monitoring-route.ts'

const json = (schema: z.ZodType) => ({ 'application/json': schema })

export const incidentParam = {
  pattern: UUID_PATTERN,
  description: 'Dashed and in lower case.',
  example: '5f1b1f3a-2d0f-4a42-9f1e-1c2c4d1f6a77',
}

export const common = {
  tags: ['Alerting'],
  errors: [400, 404, 413],
  responses: {
    200: { description: 'The incident.', content: json(incidentSchema) },
  },
}

const MAX_BULK = 100
const MIN_SNOOZE = 300
const MAX_SNOOZE = 604_800
const personSchema = z.string().describe("A member's e-mail address.")
const bulkBody = z.object({
  ids: z.array(z.uuid()).min(1).max(MAX_BULK),
  by: z.string().max(100).optional(),
  note: z.string().max(2000).optional(),
})
const bulkResult = z.object({
  incidents: z.array(
    z.object({ id: z.uuid(), error: z.string().nullable().describe('null: the incident is acknowledged.') }),
  ),
})

/** Actions on incidents; version 3 only. */
export const incidentActionRoutes: readonly Route[] = [
  write({
    ...common,
    path: '/api/v3/incidents/ack',
    operationId: 'ackIncidents',
    summary: 'Acknowledge several incidents',
    params: {},
    body: { required: true, content: json(bulkBody) },
    responses: {
      200: { description: 'One result per distinct id, in the order of `ids`.', content: json(bulkResult) },
    },
    async handle({ key, actor, body, deps }) {
      const ids = readList(body.ids, 'ids', { min: 1, max: MAX_BULK }).map((id, index) => {
        if (typeof id !== 'string' || !isUuid(id)) throw invalid(`ids[${index}]`, 'must be the id of an incident')
        return id
      })
      const input = {
        project: key.project,
        ids: [...new Set(ids)],
        ...readAck(body, ['ids', 'by', 'note']),
        via: 'api',
      } as const
      return { incidents: await acknowledgeIncidents(deps.db, actor, input, deps) }
    },
  }),
  actionRoute(
    'ack',
    'Acknowledge an incident',
    z.object({
      by: z.string().max(100).optional(),
      note: z.string().max(2000).optional(),
      for: z
        .int()
        .min(MIN_SNOOZE)
        .max(MAX_SNOOZE)
        .optional()
        .describe('Snooze: seconds until the incident notifies again, if it is still open.'),
    }),
    {
      async run({ incident, body, actor, deps }) {
        const { by, note } = readAck(body, ['by', 'note', 'for'])
        const range = { min: MIN_SNOOZE, max: MAX_SNOOZE, unit: 'seconds' } as const
        const snooze = isPresent(body.for) ? { for: readNumber(body.for, 'for', range) } : {}
        return await acknowledgeIncident(deps.db, actor, { ...incident, by, note, ...snooze, via: 'api' }, deps)
      },
      conflict: '`incident is resolved`',
    },
  ),
  actionRoute('unack', 'Remove an acknowledgement', z.object({}), {
    async run({ incident, body, actor, deps }) {
      refuseUnknown(body, '', ['api_key'])
      return await unacknowledgeIncident(deps.db, actor, { ...incident, via: 'api' })
    },
    conflict: '`incident is resolved` or `incident is not acknowledged`',
  }),
  actionRoute('take', 'Acknowledge an incident and assign it to a member', z.object({ person: personSchema }), {
    async run({ incident, body, actor, deps }) {
      const person = readText(body.person, 'person', { max: 320 })
      refuseUnknown(body, '', ['person', 'api_key'])
      return await takeIncident(deps.db, actor, { ...incident, person, via: 'api' }, deps)
    },
    conflict: '`incident is resolved`',
  }),
  actionRoute('escalate', 'Send the next step of the policy at once', z.object({}), {
    async run({ incident, body, actor, deps }) {
      refuseUnknown(body, '', ['api_key'])
      return await escalateIncident(deps.db, actor, { ...incident, via: 'api' })
    },
    conflict: '`incident is resolved` or `no further step`',
  }),
  actionRoute(
    'merge',
    'Merge an incident into another one',
    z.object({ into: z.uuid().describe('Id of an open incident.') }),
    {
      async run({ incident, body, actor, deps }) {
        const into = readText(body.into, 'into', { max: 36 })
        if (!isUuid(into)) throw invalid('into', 'must be the id of an incident')
        refuseUnknown(body, '', ['into', 'api_key'])
        return await mergeIncident(deps.db, actor, { ...incident, into, via: 'api' })
      },
      conflict: '`incident is resolved` or `is a member of another incident`',
    },
  ),
  actionRoute('unmerge', 'Separate an incident from the one it is merged into', z.object({}), {
    async run({ incident, body, actor, deps }) {
      refuseUnknown(body, '', ['api_key'])
      return await unmergeIncident(deps.db, actor, { ...incident, via: 'api' })
    },
    conflict: '`incident is resolved` or `incident is not merged`',
  }),
  actionRoute(
    'assign',
    'Assign an incident to a member',
    z.object({
      to: personSchema.nullable(),
      notify: z
        .boolean()
        .default(true)
        .describe(
          'Notify the person by their notification rules. An acknowledgement ends, and the policy waits 900 seconds for the next one.',
        ),
      note: z.string().max(2000).optional(),
    }),
    {
      async run({ incident, body, actor, deps }) {
        const to = body.to === null ? null : readText(body.to, 'to', { max: 320 })
        const notify = body.notify === undefined || readBoolean(body.notify, 'notify')
        const note = isPresent(body.note) ? readText(body.note, 'note', { max: 2000 }) : ''
        refuseUnknown(body, '', ['to', 'notify', 'note', 'api_key'])
        return await assignIncident(deps.db, actor, { ...incident, to, notify, note, via: 'api' }, deps)
      },
      conflict: '`<address> cannot be reached`, or `is a member of another incident`, if the person would be notified',
    },
  ),
  actionRoute('note', 'Add a note', z.object({ text: z.string().min(1).max(2000) }), {
    async run({ incident, body, actor, deps }) {
      const text = readText(body.text, 'text', { min: 1, max: 2000 })
      refuseUnknown(body, '', ['text', 'api_key'])
      return await noteIncident(deps.db, actor, { ...incident, text, via: 'api' })
    },
  }),
  actionRoute(
    'report',
    'Write the report; also possible after the incident is resolved',
    z.object({ text: z.string().max(20_000) }),
    {
      async run({ incident, body, actor, deps }) {
        const text = readText(body.text, 'text', { max: 20_000 })
        refuseUnknown(body, '', ['text', 'api_key'])
        return await reportIncident(deps.db, actor, { ...incident, text, via: 'api' })
      },
    },
  ),
]

function readAck(body: JsonObject, members: readonly string[]): { by: string; note: string } {
  const by = isPresent(body.by) ? readText(body.by, 'by', { max: 100 }) : ''
  const note = isPresent(body.note) ? readText(body.note, 'note', { max: 2000 }) : ''
  refuseUnknown(body, '', [...members, 'api_key'])
  return { by, note }
}

type ActionInput = Pick<Context<string>, 'actor' | 'deps'> & { incident: IncidentOfProject; body: JsonObject }

function actionRoute(
  verb: string,
  summary: string,
  schema: z.ZodType,
  { run, conflict }: { run(input: ActionInput): Promise<ShownIncident>; conflict?: string },
): Route {
  return write<`/api/v3/incidents/{incident}/${string}`>({
    ...common,
    path: `/api/v3/incidents/{incident}/${verb}`,
    operationId: `${verb}Incident`,
    summary,
    params: { incident: incidentParam },
    body: { required: false, content: json(schema) },
    responses: {
      ...common.responses,
      403: {
        description:
          'The incident has 200 actions, the maximum, or a merge would give it more than 500 members. No body.',
      },
      ...(conflict !== undefined && { 409: { description: conflict, content: { 'text/plain': null } } }),
    },
    async handle({ key, actor, params, body, deps }) {
      const incident = { project: key.project, id: params.incident }
      if (!(await findIncident(deps.db, incident.project.id, incident.id))) throw new NotFoundError('')
      return incidentView(await run({ incident, body, actor, deps }), deps.now())
    },
  })
}
