import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import { invalid, isPresent, mustBeOneOf, readText, refuseUnknown } from '#shared/monitoring/alerting/fields.ts'
import type { ShownIncident } from '#shared/monitoring/alerting/incident-page-view.ts'
import {
  findIncident,
  type IncidentFilter,
  listDecisions,
  listIncidents,
  timelineOf,
} from '#shared/monitoring/alerting/incident-read-store.ts'
import {
  decisionView,
  incidentView,
  reducedIncidentView,
  timelineView,
} from '#shared/monitoring/alerting/incident-view.ts'
import type { JsonObject } from '#shared/monitoring/checks/json-body.ts'
import { findCheck } from '#shared/monitoring/checks/store.ts'
import { namedIntegrations } from '#shared/monitoring/operations/check-changes.ts'
import {
  acknowledgeIncident,
  assignIncident,
  type IncidentOfProject,
  noteIncident,
  reportIncident,
  unacknowledgeIncident,
} from '#shared/monitoring/operations/incidents.ts'
import type { ProjectKey } from '#shared/monitoring/projects/store.ts'
import { type Micros, microsOfSeconds } from '#shared/time.ts'
import { isUuid, UUID_PATTERN } from '#shared/uuid.ts'
import type { IngressDeps } from '../deps.ts'
import { queryOf } from '../middleware/form-text.ts'
import { paged } from '../paging.ts'
import type { Route } from '../route.ts'
import { decisionSchema, incidentDetailsSchema, incidentSchema } from './alerting-schemas.ts'
import { anyKey, type Context, read, readWriteKey, write } from './monitoring-route.ts'
import { numberOf, requireCheck } from './operation.ts'
import { uuidParam } from './schemas.ts'

const MAX_TIMELINE_ENTRIES = 500

const json = (schema: z.ZodType) => ({ 'application/json': schema })
const incidentParam = {
  pattern: UUID_PATTERN,
  description: 'Dashed and in lower case.',
  example: '5f1b1f3a-2d0f-4a42-9f1e-1c2c4d1f6a77',
}
const common = {
  tags: ['Alerting'],
  errors: [400, 404, 413],
  responses: {
    200: { description: 'The incident.', content: json(incidentSchema) },
  },
}
const range = {
  start: z.string().optional().describe('UNIX timestamp: not older than it.'),
  end: z.string().optional().describe('UNIX timestamp: older than it.'),
  limit: z.string().optional().describe('1-100; 50 by default.'),
  before: z.string().optional().describe('The `next` of the previous page.'),
}

/** Incidents, actions on them, and notification decisions; version 3 only. */
export const incidentRoutes: readonly Route[] = [
  read({
    ...common,
    access: anyKey,
    path: '/api/v3/incidents/',
    operationId: 'listIncidents',
    summary: 'List incidents, newest first',
    params: {},
    query: z.object({
      state: z.enum(['open', 'resolved']).optional(),
      check: z.string().optional().describe('Uuid of a check.'),
      tag: z.string().optional(),
      ...range,
    }),
    responses: {
      ...common.responses,
      200: {
        description: 'A page of incidents; `next` is the cursor of the next page.',
        content: json(z.object({ incidents: z.array(incidentSchema), next: z.string().nullable() })),
      },
    },
    async handle({ key, request, deps }) {
      const query = queryOf(request)
      const limit = numberOf(query, 'limit', { min: 1, max: 100 }) ?? 50
      const filter = await filterOf(query, key, deps)
      const rows = await listIncidents(deps.db, key.project.id, filter, limit + 1)
      const { page, nextCursor } = paged(rows, limit, ({ n }) => String(n))
      return { incidents: page.map(viewFor(key)), next: nextCursor }
    },
  }),
  read({
    ...common,
    access: anyKey,
    path: '/api/v3/incidents/{incident}',
    operationId: 'getIncident',
    summary: 'Get an incident with its timeline',
    params: { incident: incidentParam },
    responses: { ...common.responses, 200: { description: 'The incident.', content: json(incidentDetailsSchema) } },
    async handle({ key, params, deps }) {
      const incident = await findIncident(deps.db, key.project.id, params.incident)
      if (!incident) throw new NotFoundError('')
      if (key.kind !== 'rw') return reducedIncidentView(incident)
      const timeline = await timelineOf(deps.db, incident, MAX_TIMELINE_ENTRIES)
      return { ...incidentView(incident), timeline: timeline.map(timelineView) }
    },
  }),
  act(
    'ack',
    'Acknowledge an incident',
    z.object({ by: z.string().max(100).optional(), note: z.string().max(2000).optional() }),
    {
      async run({ own, body, actor, deps }) {
        const by = isPresent(body.by) ? readText(body.by, 'by', { max: 100 }) : ''
        const note = isPresent(body.note) ? readText(body.note, 'note', { max: 2000 }) : ''
        refuseUnknown(body, '', ['by', 'note', 'api_key'])
        return await acknowledgeIncident(deps.db, actor, { ...own, by, note, via: 'api' }, deps)
      },
      conflict: '`incident is resolved`',
    },
  ),
  act('unack', 'Remove an acknowledgement', z.object({}), {
    async run({ own, body, actor, deps }) {
      refuseUnknown(body, '', ['api_key'])
      return await unacknowledgeIncident(deps.db, actor, { ...own, via: 'api' })
    },
    conflict: '`incident is resolved` or `incident is not acknowledged`',
  }),
  act(
    'assign',
    'Assign an incident to a member',
    z.object({ to: z.string().nullable().describe("A member's address.") }),
    {
      async run({ own, body, actor, deps }) {
        const to = body.to === null ? null : readText(body.to, 'to', { max: 320 })
        refuseUnknown(body, '', ['to', 'api_key'])
        return await assignIncident(deps.db, actor, { ...own, to, via: 'api' })
      },
    },
  ),
  act('note', 'Add a note', z.object({ text: z.string().min(1).max(2000) }), {
    async run({ own, body, actor, deps }) {
      const text = readText(body.text, 'text', { min: 1, max: 2000 })
      refuseUnknown(body, '', ['text', 'api_key'])
      return await noteIncident(deps.db, actor, { ...own, text, via: 'api' })
    },
  }),
  act('report', 'Write the report; also after the incident is resolved', z.object({ text: z.string().max(20_000) }), {
    async run({ own, body, actor, deps }) {
      const text = readText(body.text, 'text', { max: 20_000 })
      refuseUnknown(body, '', ['text', 'api_key'])
      return await reportIncident(deps.db, actor, { ...own, text, via: 'api' })
    },
  }),
  read({
    ...common,
    access: readWriteKey,
    path: '/api/v3/checks/{uuid}/decisions/',
    operationId: 'listDecisions',
    summary: 'List the notification decisions of a check, newest first',
    params: { uuid: uuidParam },
    query: z.object(range),
    errors: [...common.errors, 403],
    responses: {
      ...common.responses,
      200: {
        description: 'A page of decisions; `next` is the cursor of the next page.',
        content: json(z.object({ decisions: z.array(decisionSchema), next: z.string().nullable() })),
      },
    },
    async handle({ key, params, request, deps, setLag }) {
      const own = await requireCheck(params.uuid, key, deps)
      const query = queryOf(request)
      const limit = numberOf(query, 'limit', { min: 1, max: 100 }) ?? 50
      const span = { from: instantOf(query, 'start'), before: instantOf(query, 'end'), beforeId: cursorOf(query) }
      setLag(await deps.barrier.pass([own.id]))
      const rows = await listDecisions(deps.db, own.id, span, limit + 1)
      const { page, nextCursor } = paged(rows, limit, ({ id }) => String(id))
      const names = new Map((await namedIntegrations(deps.db, key.project.id)).map(({ id, name }) => [id, name || id]))
      return { decisions: page.map((decision) => decisionView(decision, names)), next: nextCursor }
    },
  }),
]

type Acting = Pick<Context<string>, 'actor' | 'deps'> & { own: IncidentOfProject; body: JsonObject }

function act(
  verb: string,
  summary: string,
  schema: z.ZodType,
  { run, conflict }: { run(acting: Acting): Promise<ShownIncident>; conflict?: string },
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
      403: { description: 'The incident has 200 actions, the maximum. No body.' },
      ...(conflict !== undefined && { 409: { description: conflict, content: { 'text/plain': null } } }),
    },
    async handle({ key, actor, params, body, deps }) {
      const own = { project: key.project, id: params.incident }
      if (!(await findIncident(deps.db, own.project.id, own.id))) throw new NotFoundError('')
      return incidentView(await run({ own, body, actor, deps }))
    },
  })
}

function viewFor({ kind }: ProjectKey): (incident: ShownIncident) => object {
  return kind === 'rw' ? incidentView : reducedIncidentView
}

type Query = ReturnType<typeof queryOf>

/** @throws ValidationError for an invalid filter, NotFoundError for a check that the project does not have */
async function filterOf(query: Query, key: ProjectKey, deps: IngressDeps): Promise<IncidentFilter> {
  const state = query.getAll('state').at(-1) ?? null
  if (state !== null && state !== 'open' && state !== 'resolved')
    throw invalid('state', mustBeOneOf(['open', 'resolved']))
  const uuid = query.getAll('check').at(-1) ?? null
  const check = uuid !== null && isUuid(uuid) ? await findCheck(deps.db, uuid) : null
  if (uuid !== null && check?.projectId !== key.project.id) throw new NotFoundError('')
  return {
    state,
    checkId: check?.id ?? null,
    tag: query.getAll('tag').at(-1) ?? null,
    from: instantOf(query, 'start'),
    before: instantOf(query, 'end'),
    beforeN: cursorOf(query),
  }
}

function cursorOf(query: Query): number | null {
  return numberOf(query, 'before', { min: 0, max: Number.MAX_SAFE_INTEGER })
}

function instantOf(query: Query, name: string): Micros | null {
  const seconds = numberOf(query, name, { min: 0, max: 10_000_000_000 })
  return seconds === null ? null : microsOfSeconds(seconds)
}
