import { NotFoundError, RateLimitedError, ValidationError } from '#shared/errors.ts'
import { policiesOf } from '#shared/monitoring/alerting/policy-store.ts'
import type { JsonObject, JsonValue } from '#shared/monitoring/checks/json-body.ts'
import { listShownChecks } from '#shared/monitoring/checks/shown-store.ts'
import { listIntegrations } from '#shared/monitoring/integrations/store.ts'
import { namedIntegrations } from '#shared/monitoring/operations/check-changes.ts'
import { type SimulatedCheck, simulateCheck } from '#shared/monitoring/operations/simulate-check.ts'
import { type Micros, microsOfDate, microsOfSeconds, toIsoSeconds } from '#shared/time.ts'
import { type Context, type FormContext, field, type Pages } from '../../shell/context.ts'
import { sendPage } from '../../shell/layout.tsx'
import { type ProjectWorkspace, requireProject } from '../../shell/workspace.ts'
import { labelOfKind } from '../integrations/labels.ts'
import { readAll } from './policy-errors.ts'
import { bodyOfState, stateOfForm, withoutEmptyHours } from './policy-state.ts'
import { type Requested, SimulatorPage } from './simulator-page.tsx'

/** Simulates a policy for the last week, or for events that the user enters. */
export function simulatorPages(pages: Pages): void {
  pages.get('/projects/:project/simulator', async (context) => {
    const { query } = context
    const policy = query.get('policy') ?? 'none'
    const requested = { check: query.get('check') ?? '', policy, source: 'recorded', lines: '', draft: null } as const
    await show(context, await requireProject(context, 'edit'), requested, new Map())
  })
  pages.post('/projects/:project/simulator', run)
}

/** More than a day, because a simulation runs until the deadlines of entered pings have passed. */
const THOUGHT_UP: Micros = microsOfSeconds(2 * 86_400)

async function run(context: FormContext): Promise<void> {
  const workspace = await requireProject(context, 'edit')
  const { project } = workspace
  const { deps, form } = context
  const draft = draftOf(form)
  const requested: Requested = {
    check: field(form, 'check'),
    policy: form.has('try') || form.get('policy') === 'draft' ? 'draft' : field(form, 'policy'),
    source: form.get('source') === 'lines' ? 'lines' : 'recorded',
    lines: (form.get('lines') ?? '').slice(0, 100_000),
    draft,
  }
  const errors = new Map<string, string>()
  if (form.has('try')) return await show(context, workspace, requested, errors)
  const checks = await listShownChecks(deps.db, project.id)
  const named = checks.filter(({ uuid, name }) => uuid === requested.check || name === requested.check)
  const [check] = named
  if (named.length > 1) errors.set('check', 'Several checks have this name: put the id of one here.')
  else if (!check) errors.set('check', 'There is no check with this name.')
  const now = deps.now()
  const events = requested.source === 'lines' ? eventsOf(requested.lines, now) : null
  if (typeof events === 'string') errors.set('lines', events)
  const policy = await requestedPolicy(context, project.id, requested, errors)
  if (!check || errors.size > 0) return await show(context, workspace, requested, errors)
  const time: JsonObject = Array.isArray(events)
    ? { events, from: toIsoSeconds(startOfDay(now)), until: toIsoSeconds(startOfDay(now) + THOUGHT_UP) }
    : { recorded: 'pings' }
  try {
    const body = { check: check.uuid, ...time }
    const inForce = await simulateCheck(deps.db, { project, body, now }, deps)
    const other = await simulateCheck(deps.db, { project, body: { ...body, policy }, now, isCounted: false }, deps)
    await show(context, workspace, { ...requested, check: check.name || check.uuid }, errors, { inForce, other })
  } catch (error) {
    if (!(error instanceof ValidationError || error instanceof RateLimitedError || error instanceof NotFoundError)) {
      throw error
    }
    errors.set('', error.message || 'The policy is gone.')
    await show(context, workspace, requested, errors)
  }
}

/** Returns the unsaved policy of the form as a request of the API. */
function draftOf(form: URLSearchParams): Requested['draft'] {
  if (!form.has('steps')) return null
  const own = new Set(['_csrf', 'check', 'policy', 'source', 'lines', 'try', 'do'])
  const state = withoutEmptyHours(stateOfForm(form))
  return { body: bodyOfState(state), fields: [...form].filter(([name]) => !own.has(name)) }
}

async function requestedPolicy(
  { deps }: Context,
  projectId: number,
  { policy, draft }: Requested,
  errors: Map<string, string>,
): Promise<JsonValue> {
  if (policy !== 'draft') return policy === 'none' ? null : policy
  if (!draft) {
    errors.set('', 'There is no draft.')
    return null
  }
  const body = { ...draft.body, name: draft.body.name || 'Draft' }
  const wrong = readAll(body, await namedIntegrations(deps.db, projectId)).errors
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
  const known = checks.find(({ uuid }) => uuid === requested.check)
  sendPage(
    context,
    { title: `Simulator · ${project.name}`, workspace, project, area: 'policies' },
    <SimulatorPage
      context={context}
      base={`/projects/${project.uuid}`}
      requested={{ ...requested, check: known?.name || requested.check }}
      checks={checks}
      policies={policies}
      names={new Map(integrations.map(({ uuid, name, kind }) => [uuid, name || labelOfKind(kind)]))}
      errors={errors}
      outcome={outcome}
    />,
    errors.size === 0 ? 200 : 400,
  )
}
