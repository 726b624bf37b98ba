import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import { invalid, mustBeOneOf } from '#shared/monitoring/alerting/fields.ts'
import { ANY_INCIDENT, type IncidentFilter, LISTED_STATES } from '#shared/monitoring/alerting/incident-list.ts'
import { listIncidents } from '#shared/monitoring/alerting/incident-list-store.ts'
import type { ShownIncident } from '#shared/monitoring/alerting/incident-page-view.ts'
import { findIncident, listDecisions } from '#shared/monitoring/alerting/incident-read-store.ts'
import { incidentMarkdown } from '#shared/monitoring/alerting/incident-text.ts'
import { decisionView, incidentView, reducedIncidentView } from '#shared/monitoring/alerting/incident-view.ts'
import { SEVERITIES } from '#shared/monitoring/alerting/policy.ts'
import { findPolicy } from '#shared/monitoring/alerting/policy-store.ts'
import { timelineView } from '#shared/monitoring/alerting/timeline.ts'
import { readTimeline } from '#shared/monitoring/alerting/timeline-store.ts'
import { findCheck } from '#shared/monitoring/checks/store.ts'
import { namedIntegrations } from '#shared/monitoring/operations/check-changes.ts'
import type { ProjectKey } from '#shared/monitoring/projects/store.ts'
import { type Micros, microsOfSeconds } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import type { IngressDeps } from '../deps.ts'
import { queryOf } from '../middleware/form-text.ts'
import { paged } from '../paging.ts'
import type { Route } from '../route.ts'
import { decisionSchema, incidentDetailsSchema, incidentSchema } from './alerting-schemas.ts'
import { common, incidentActionRoutes, incidentParam } from './incident-actions.ts'
import { anyKey, read, readWriteKey } from './monitoring-route.ts'
import { numberOf, requireCheck } from './operation.ts'
import { uuidParam } from './schemas.ts'

const json = (schema: z.ZodType) => ({ 'application/json': schema })
const range = {
  start: z.string().optional().describe('Only entries at or after this UNIX timestamp.'),
  end: z.string().optional().describe('Only entries before this UNIX timestamp.'),
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
      state: z.enum(LISTED_STATES).optional().describe('`open`: all but `resolved`.'),
      severity: z.enum(SEVERITIES).optional(),
      check: z.string().optional().describe('Uuid of a check.'),
      policy: z.string().optional().describe('Uuid of the policy of the last evaluation.'),
      tag: z.string().optional(),
      person: z.string().optional().describe('Address of the assignee or of an acknowledger.'),
      lead: z.string().optional().describe('Uuid of an incident; selects the incidents that were merged into it.'),
      q: z.string().optional().describe('Part of the name of the check, case-insensitive.'),
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
      return { incidents: page.map(viewFor(key, deps.now())), next: nextCursor }
    },
  }),
  read({
    ...common,
    access: anyKey,
    path: '/api/v3/incidents/{incident}',
    operationId: 'getIncident',
    summary: 'Get an incident with its timeline',
    params: { incident: incidentParam },
    query: z.object({
      after: z.string().optional().describe('The `timeline_next` of the previous response.'),
      format: z
        .enum(['markdown'])
        .optional()
        .describe('`markdown`: the incident, its timeline and its report as text.'),
    }),
    responses: {
      ...common.responses,
      200: {
        description: 'The incident.',
        content: { ...json(incidentDetailsSchema), 'text/markdown': null },
      },
    },
    async handle({ key, params, request, deps }) {
      const query = queryOf(request)
      const after = numberOf(query, 'after', { min: 0, max: 1_000_000 }) ?? 0
      const format = choiceOf(query, 'format', ['markdown'])
      const incident = await findIncident(deps.db, key.project.id, params.incident)
      if (!incident) throw new NotFoundError('')
      if (key.kind !== 'rw') return reducedIncidentView(incident, deps.now())
      const { entries, next } = await readTimeline(deps.db, incident, after)
      if (format === null) {
        const timeline = { timeline: entries.map(timelineView), timeline_next: next === null ? null : String(next) }
        return { ...incidentView(incident, deps.now()), ...timeline }
      }
      const url = `${deps.config.publicUrl}/incidents/${incident.id}`
      const text = incidentMarkdown({ incident, entries, url, now: deps.now() })
      return async (response) => {
        response.type('text/markdown').end(text)
      }
    },
  }),
  ...incidentActionRoutes,
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

function viewFor({ kind }: ProjectKey, now: Micros): (incident: ShownIncident) => object {
  return (incident) => (kind === 'rw' ? incidentView : reducedIncidentView)(incident, now)
}

type Query = ReturnType<typeof queryOf>

/** @throws ValidationError for an invalid filter, NotFoundError for a check or policy that the project does not have */
async function filterOf(query: Query, key: ProjectKey, { db }: IngressDeps): Promise<IncidentFilter> {
  const text = (name: string) => query.getAll(name).at(-1) || null
  const state = choiceOf(query, 'state', LISTED_STATES)
  const severity = choiceOf(query, 'severity', SEVERITIES)
  const [uuid, policy, lead] = [text('check'), text('policy'), text('lead')]
  if (lead !== null && !isUuid(lead)) throw new NotFoundError('')
  const check = uuid !== null && isUuid(uuid) ? await findCheck(db, uuid) : null
  if (uuid !== null && check?.projectId !== key.project.id) throw new NotFoundError('')
  const isKnown = policy === null || (isUuid(policy) && (await findPolicy(db, key.project.id, policy)) !== null)
  if (!isKnown) throw new NotFoundError('')
  return {
    ...ANY_INCIDENT,
    state,
    severity,
    checkId: check?.id ?? null,
    policy,
    tag: text('tag'),
    // A read-only key must not learn who works on an incident.
    person: key.kind === 'rw' ? text('person') : null,
    lead: key.kind === 'rw' ? lead : null,
    q: text('q'),
    from: instantOf(query, 'start'),
    before: instantOf(query, 'end'),
    beforeN: cursorOf(query),
  }
}

function choiceOf<const T extends string>(query: Query, name: string, choices: readonly T[]): T | null {
  const value = query.getAll(name).at(-1) ?? null
  const found = choices.find((choice) => choice === value)
  if (value !== null && found === undefined) throw invalid(name, mustBeOneOf(choices))
  return found ?? null
}

function cursorOf(query: Query): number | null {
  return numberOf(query, 'before', { min: 0, max: Number.MAX_SAFE_INTEGER })
}

function instantOf(query: Query, name: string): Micros | null {
  const seconds = numberOf(query, name, { min: 0, max: 10_000_000_000 })
  return seconds === null ? null : microsOfSeconds(seconds)
}
