import { NotFoundError, RateLimitedError, ValidationError } from '#shared/errors.ts'
import { ANY_INCIDENT } from '#shared/monitoring/alerting/incident-list.ts'
import { listIncidents } from '#shared/monitoring/alerting/incident-list-store.ts'
import { policiesOf } from '#shared/monitoring/alerting/policy-store.ts'
import type { JsonObject, JsonValue } from '#shared/monitoring/checks/json-body.ts'
import { listShownChecks } from '#shared/monitoring/checks/shown-store.ts'
import { listIntegrations } from '#shared/monitoring/integrations/store.ts'
import { stepNames } from '#shared/monitoring/operations/policies.ts'
import { type SimulatedCheck, simulateCheck } from '#shared/monitoring/operations/simulate-check.ts'
import type { Project } from '#shared/monitoring/projects/store.ts'
import { type Micros, microsOfDate, microsOfSeconds, toIsoSeconds } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import { type Context, type FormContext, field, type Pages } from '../../shell/context.ts'
import { sendPage } from '../../shell/layout.tsx'
import { type ProjectWorkspace, requireProject } from '../../shell/workspace.ts'
import { labelOfKind } from '../integrations/labels.ts'
import { bodyOfState as bodyOfSchedule, stateOfForm as stateOfSchedule } from '../on-call/form-state.ts'
import { readAll } from './policy-errors.ts'
import { bodyOfState, stateOfForm, withoutEmptyHours } from './policy-state.ts'
import { type Requested, SimulatorPage } from './simulator-page.tsx'

/** Simulates a policy for yesterday, for the last week, or for events that the user enters. */
export function simulatorPages(pages: Pages): void {
  pages.get('/projects/:project/simulator', async (context) => {
    const workspace = await requireProject(context, 'edit')
    const drafts = { draft: null, schedule: null }
    const requested = { ...(await suggested(context, workspace)), source: 'recorded', lines: '', ...drafts } as const
    await show(context, workspace, requested, new Map())
  })
  pages.post('/projects/:project/simulator', run)
}

/** Returns check and policy of the address; by default the check of the newest incident and the first policy. */
async function suggested({ query, deps }: Context, { project }: ProjectWorkspace) {
  const [[newest], [policy]] = await Promise.all([
    listIncidents(deps.db, project.id, ANY_INCIDENT, 1),
    policiesOf(deps.db, [project.id]),
  ])
  return {
    check: query.get('check') ?? newest?.checkUuid ?? '',
    policy: query.get('policy') ?? policy?.uuid ?? 'none',
  }
}

/** More than a day, because a simulation runs until the deadlines of entered pings have passed. */
const THOUGHT_UP: Micros = microsOfSeconds(2 * 86_400)
const DAY: Micros = microsOfSeconds(86_400)
const SOURCES = ['yesterday', 'recorded', 'lines'] as const

async function run(context: FormContext): Promise<void> {
  const workspace = await requireProject(context, 'edit')
  const { project } = workspace
  const { deps, form } = context
  const [draft, schedule] = [draftOf(form), scheduleDraftOf(form)]
  const requested: Requested = {
    check: field(form, 'check') || (form.has('try') ? (await suggested(context, workspace)).check : ''),
    policy: form.has('try') ? (schedule ? 'current' : 'draft') : field(form, 'policy'),
    source: SOURCES.find((one) => one === form.get('source')) ?? 'recorded',
    lines: (form.get('lines') ?? '').slice(0, 100_000),
    draft,
    schedule,
  }
  const errors = new Map<string, string>()
  if (form.has('try')) return await show(context, workspace, requested, errors)
  const checks = await listShownChecks(deps.db, project.id)
  const named = checks.filter(({ uuid, name }) => uuid === requested.check || name === requested.check)
  const [check] = named
  if (named.length > 1) errors.set('check', 'Several checks have this name: put the id of one here.')
  else if (!check) errors.set('check', requested.check === '' ? 'Choose a check.' : 'There is no check with this name.')
  const now = deps.now()
  const events = requested.source === 'lines' ? eventsOf(requested.lines, now) : null
  if (typeof events === 'string') errors.set('lines', events)
  const policy = await requestedPolicy(context, project, requested, errors)
  if (!check || errors.size > 0) return await show(context, workspace, requested, errors)
  const today = startOfDay(now)
  const span = (from: Micros, until: Micros) => ({ from: toIsoSeconds(from), until: toIsoSeconds(until) })
  const time: JsonObject = Array.isArray(events)
    ? { events, ...span(today, today + THOUGHT_UP) }
    : { recorded: 'pings', ...(requested.source === 'yesterday' && span(today - DAY, today)) }
  try {
    const body = { check: check.uuid, ...time }
    const inForce = await simulateCheck(deps.db, { project, body, now }, deps)
    const changed = {
      ...body,
      ...(requested.policy !== 'current' && { policy }),
      ...(schedule && { schedules: [{ ...schedule.body, id: schedule.id }] }),
    }
    const other = await simulateCheck(deps.db, { project, body: changed, now, isCounted: false }, deps)
    await show(context, workspace, { ...requested, check: check.uuid }, errors, { inForce, other })
  } catch (error) {
    if (!(error instanceof ValidationError || error instanceof RateLimitedError || error instanceof NotFoundError)) {
      throw error
    }
    const text = error.message.replace(/^schedules\[0\]: json validation error/, 'The draft of the schedule')
    errors.set('', text || 'The policy is gone.')
    await show(context, workspace, requested, errors)
  }
}

/** Returns the unsaved policy of the form as a request of the API. */
function draftOf(form: URLSearchParams): Requested['draft'] {
  if (!form.has('steps')) return null
  return { body: bodyOfState(withoutEmptyHours(stateOfForm(form))), fields: fieldsOfDraft(form) }
}

/** Returns the unsaved schedule of the form as a request of the API. */
function scheduleDraftOf(form: URLSearchParams): Requested['schedule'] {
  const id = field(form, 'schedule')
  if (!isUuid(id)) return null
  const body = bodyOfSchedule(stateOfSchedule(form))
  return { id, body: { ...body, name: body.name || 'Draft' }, fields: fieldsOfDraft(form) }
}

const OWN_FIELDS = new Set(['_csrf', 'check', 'policy', 'source', 'lines', 'try', 'do'])

function fieldsOfDraft(form: URLSearchParams): [string, string][] {
  return [...form].filter(([name]) => !OWN_FIELDS.has(name))
}

async function requestedPolicy(
  { deps }: Context,
  project: Pick<Project, 'id' | 'organisationId'>,
  { policy, draft }: Requested,
  errors: Map<string, string>,
): Promise<JsonValue> {
  if (policy !== 'draft') return policy === 'none' || policy === 'current' ? null : policy
  if (!draft) {
    errors.set('', 'There is no draft.')
    return null
  }
  const body = { ...draft.body, name: draft.body.name || 'Draft' }
  const wrong = readAll(body, await stepNames(deps.db, project)).errors
  for (const [name, text] of wrong) errors.set('', `The draft is not right yet: ${name} – ${text}`)
  return body
}

const LINE = /^(?:(\d{4}-\d\d-\d\d)[T ])?(\d{1,2}):(\d\d)(?::(\d\d))?\s+(success|ok|start|fail|log)$/i

/** Parses lines like `03:00 fail` as events of today or yesterday in UTC. @returns the error of an invalid line */
function eventsOf(text: string, now: Micros): JsonValue[] | string {
  const events: JsonValue[] = []
  const today = toIsoSeconds(now).slice(0, 10)
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (line === '') continue
    const [, date = today, hours = '', minutes = '', seconds = '00', kind = ''] = LINE.exec(line) ?? []
    const at = new Date(`${date}T${hours.padStart(2, '0')}:${minutes}:${seconds}Z`)
    if (kind === '' || Number.isNaN(at.getTime())) return `Not understood: ${line.slice(0, 60)}`
    const word = kind.toLowerCase()
    events.push({ at: toIsoSeconds(microsOfDate(at)), kind: word === 'ok' ? 'success' : word })
  }
  return events.length === 0 ? 'Write at least one line, like 03:00 fail.' : events
}

function startOfDay(now: Micros): Micros {
  return microsOfDate(new Date(`${toIsoSeconds(now).slice(0, 10)}T00:00:00Z`))
}

async function show(
  context: Context,
  workspace: ProjectWorkspace,
  requested: Requested,
  errors: ReadonlyMap<string, string>,
  outcome: { inForce: SimulatedCheck; other: SimulatedCheck } | null = null,
): Promise<void> {
  const { project } = workspace
  const { db } = context.deps
  const [checks, policies, integrations] = await Promise.all([
    listShownChecks(db, project.id),
    policiesOf(db, [project.id]),
    listIntegrations(db, project.id),
  ])
  sendPage(
    context,
    { title: `Simulator · ${project.name}`, workspace, project, area: 'policies' },
    <SimulatorPage
      context={context}
      base={`/projects/${project.uuid}`}
      requested={requested}
      checks={checks}
      policies={policies}
      names={new Map(integrations.map(({ uuid, name, kind }) => [uuid, name || labelOfKind(kind)]))}
      errors={errors}
      outcome={outcome}
    />,
    errors.size === 0 ? 200 : 400,
  )
}
