import type { Knex } from 'knex'
import { ConflictError, ForbiddenError, NotFoundError, ValidationError } from '#shared/errors.ts'
import { MAX_MEMBERS } from '#shared/monitoring/alerting/decide-act.ts'
import { ANY_INCIDENT } from '#shared/monitoring/alerting/incident-list.ts'
import { listIncidents } from '#shared/monitoring/alerting/incident-list-store.ts'
import type { ShownIncident } from '#shared/monitoring/alerting/incident-page-view.ts'
import { findIncident, listDecisions } from '#shared/monitoring/alerting/incident-read-store.ts'
import {
  incidentMarkdown,
  REPORT_TEMPLATE,
  timelineText,
  withTimeline,
} from '#shared/monitoring/alerting/incident-text.ts'
import { suggestedMerges } from '#shared/monitoring/alerting/merge-store.ts'
import { findPolicy } from '#shared/monitoring/alerting/policy-store.ts'
import { readTimeline } from '#shared/monitoring/alerting/timeline-store.ts'
import { findCheck } from '#shared/monitoring/checks/store.ts'
import {
  acknowledgeIncident,
  assignIncident,
  escalateIncident,
  hasStepLeft,
  noteIncident,
  reportIncident,
  takeIncident,
  unacknowledgeIncident,
} from '#shared/monitoring/operations/incidents.ts'
import { mergeIncidents, unmergeIncident } from '#shared/monitoring/operations/merged-incidents.ts'
import { findStatusPage } from '#shared/monitoring/pages/status-page-store.ts'
import { may, type Right } from '#shared/tenancy/accounts/roles.ts'
import { listMembers } from '#shared/tenancy/accounts/store.ts'
import { isUuid } from '#shared/uuid.ts'
import { personOf } from '../../shell/audit.ts'
import { type Context, type FormContext, field, type Pages } from '../../shell/context.ts'
import { goBack } from '../../shell/flash.ts'
import { sendPage } from '../../shell/layout.tsx'
import { checkPath, enterProject, type ProjectWorkspace, requireRight, signedIn } from '../../shell/workspace.ts'
import { readFailureOutput } from '../checks/failure-output.tsx'
import { SNOOZES } from './actions.tsx'
import { IncidentPage } from './incident-page.tsx'
import { incidentListPages } from './list-pages.tsx'
import type { MergeView } from './merged.tsx'
import { loadNextNotificationFacts } from './next-notification.tsx'

const MAX_REPORT = 20_000

export function incidentPages(pages: Pages): void {
  incidentListPages(pages)
  pages.get('/incidents/:incident', showIncident)
  pages.get('/incidents/:incident/markdown', sendMarkdown)
  pages.post('/incidents/:incident/ack', (context) =>
    act(context, (workspace, own) => {
      const note = field(context.form, 'note').slice(0, 2000)
      const snooze = field(context.form, 'for') === '' ? {} : { for: snoozeSeconds(context) }
      const input = { ...own, by: workspace.session.email, note, ...snooze, via: 'page' } as const
      return acknowledgeIncident(context.deps.db, personOf(context, workspace.session), input, context.deps)
    }),
  )
  pages.post('/incidents/:incident/unack', (context) =>
    act(context, ({ session }, own) =>
      unacknowledgeIncident(context.deps.db, personOf(context, session), { ...own, via: 'page' }),
    ),
  )
  pages.post('/incidents/:incident/take', (context) =>
    act(context, ({ session }, own) => {
      const input = { ...own, person: session.email, via: 'page' } as const
      return takeIncident(context.deps.db, personOf(context, session), input, context.deps)
    }),
  )
  pages.post('/incidents/:incident/escalate', (context) =>
    act(context, ({ session }, own) =>
      escalateIncident(context.deps.db, personOf(context, session), { ...own, via: 'page' }),
    ),
  )
  pages.post('/incidents/:incident/assign', (context) =>
    act(context, ({ session }, own) => {
      const to = field(context.form, 'to') || null
      // The person at the page knows about the incident.
      const notify = field(context.form, 'notify') !== '' && to !== session.email
      const input = { ...own, to, notify, note: '', via: 'page' } as const
      return assignIncident(context.deps.db, personOf(context, session), input, context.deps)
    }),
  )
  pages.post('/incidents/:incident/note', (context) =>
    act(context, async ({ session }, own) => {
      const text = field(context.form, 'text').slice(0, 2000)
      const input = { ...own, text, via: 'page' } as const
      if (text !== '') await noteIncident(context.deps.db, personOf(context, session), input)
    }),
  )
  pages.post('/incidents/:incident/report', saveReport)
  pages.post('/incidents/:incident/collect', collect)
  pages.post('/incidents/:incident/unmerge', (context) =>
    act(
      context,
      ({ session }, own) => unmergeIncident(context.deps.db, personOf(context, session), { ...own, via: 'page' }),
      'edit',
    ),
  )
}

/** Returns the length that a form chose. */
function snoozeSeconds({ form }: FormContext): number {
  const seconds = SNOOZES.find((length) => String(length) === field(form, 'for'))
  if (seconds === undefined) throw new ValidationError(`for must be one of ${SNOOZES.join(', ')}.`)
  return seconds
}

/** Runs an action on the incident of the path. Its page states why the action was not possible. */
async function act(
  context: FormContext,
  work: (workspace: IncidentWorkspace, own: { project: ProjectWorkspace['project']; id: string }) => Promise<unknown>,
  right: Right = 'respond',
): Promise<void> {
  const workspace = await requireIncident(context, right)
  const { incident } = workspace
  const path = `/incidents/${incident.id}`
  try {
    await work(workspace, { project: workspace.project, id: incident.id })
  } catch (error) {
    if (!(error instanceof ConflictError || error instanceof ForbiddenError)) throw error
    return goBack(context, path, { notice: `Not possible: ${error.message}.` })
  }
  goBack(context, path)
}

type IncidentWorkspace = ProjectWorkspace & { incident: ShownIncident }

const unknownIncident = () => new NotFoundError('There is no such incident, or it is not one of yours.')

/** @throws NotFoundError for incidents of other users' projects */
async function requireIncident(context: Context, right: Right): Promise<IncidentWorkspace> {
  const workspace = await signedIn(context)
  const id = context.params.incident ?? ''
  for (const project of isUuid(id) ? workspace.projects : []) {
    const incident = await findIncident(context.deps.db, project.id, id)
    if (!incident) continue
    await requireRight(context, workspace, project, right)
    return { ...(await enterProject(context, workspace, project)), project, incident }
  }
  throw unknownIncident()
}

async function showIncident(context: Context): Promise<void> {
  const { incident, ...workspace } = await requireIncident(context, 'view')
  const { project } = workspace
  const { db } = context.deps
  const after = /^[0-9]{1,6}$/.test(context.query.get('after') ?? '') ? Number(context.query.get('after')) : 0
  const show = context.query.get('show')
  const [timeline, comingOf, [decision], check, policy, canEscalate, people, statusPage, merged] = await Promise.all([
    readTimeline(db, incident, after),
    loadNextNotificationFacts(db, project.id, context.deps.now()),
    listDecisions(db, incident.checkId, { from: null, before: null, beforeId: null }, 1),
    findCheck(db, incident.checkUuid),
    incident.policyUuid === null ? null : findPolicy(db, project.id, incident.policyUuid),
    hasStepLeft(db, project.id, incident),
    listMembers(db, project.organisationId),
    findStatusPage(db, project.id),
    loadMerged(db, project.id, incident),
  ])
  if (!check) throw unknownIncident()
  const failure = timeline.rows.findLast(({ kind }) => kind === 'failure')?.detail.n
  const output = typeof failure === 'number' ? await readFailureOutput(context.deps, check, failure) : null
  const base = `/projects/${project.uuid}`
  sendPage(
    context,
    { title: `${incident.name || 'A check'} · ${project.name}`, workspace, project, area: 'incidents', zone: check.tz },
    <IncidentPage
      context={context}
      incident={incident}
      check={check}
      output={output}
      rows={timeline.rows}
      timeline={{
        path: `/incidents/${incident.id}`,
        entries: timeline.entries,
        group: show === 'notifications' || show === 'people' ? show : null,
        next: timeline.next,
      }}
      coming={comingOf(incident, decision ?? null)}
      policy={policy && { name: policy.name, path: `${base}/policies/${policy.uuid}` }}
      checkPath={checkPath(check, project)}
      listPath={`${base}/incidents`}
      simulatorPath={`${base}/simulator?check=${incident.checkUuid}`}
      canEscalate={canEscalate}
      merged={merged}
      notesPath={statusPage && `${base}/status-notes`}
      people={people}
      own={workspace.session.email}
      mayEdit={may(project.role, 'edit')}
      mayRespond={may(project.role, 'respond')}
      now={context.deps.now()}
    />,
  )
}

const MAX_MEMBERS_SHOWN = 50

async function loadMerged(db: Knex, projectId: number, incident: ShownIncident): Promise<MergeView> {
  const { id, leadId, state } = incident
  const members = { ...ANY_INCIDENT, lead: id }
  const [lead, shown, suggested] = await Promise.all([
    leadId === null ? null : findIncident(db, projectId, leadId),
    incident.members === 0 ? [] : listIncidents(db, projectId, members, MAX_MEMBERS_SHOWN),
    state === 'resolved' ? [] : suggestedMerges(db, projectId, { id, limit: MAX_MEMBERS }),
  ])
  return { lead, members: shown, suggested: suggested.map(({ name }) => name) }
}

/** Merges what the page suggested into the incident. */
async function collect(context: FormContext): Promise<void> {
  await act(
    context,
    async ({ session }, own) => {
      const suggested = await suggestedMerges(context.deps.db, own.project.id, { id: own.id, limit: MAX_MEMBERS })
      const ids = suggested.map(({ id }) => id)
      const input = { project: own.project, ids, into: own.id, via: 'page' } as const
      await mergeIncidents(context.deps.db, personOf(context, session), input)
    },
    'edit',
  )
}

async function sendMarkdown(context: Context): Promise<void> {
  const { incident } = await requireIncident(context, 'view')
  const { deps, response } = context
  const { entries } = await readTimeline(deps.db, incident)
  const url = `${deps.config.publicUrl}/incidents/${incident.id}`
  response
    .type('text/markdown')
    .set('Content-Disposition', `attachment; filename="incident-${incident.id}.md"`)
    .end(incidentMarkdown({ incident, entries, url, now: deps.now() }))
}

async function saveReport(context: FormContext): Promise<void> {
  await act(
    context,
    async ({ session, incident }, own) => {
      const typed = field(context.form, 'report')
      const isInserted = context.form.get('do') === 'insert-timeline'
      const lines = isInserted ? timelineText((await readTimeline(context.deps.db, incident)).entries) : ''
      const text = withTimeline(typed === REPORT_TEMPLATE.trim() && !isInserted ? '' : typed, lines)
      const input = { ...own, text: text.slice(0, MAX_REPORT), via: 'page' } as const
      await reportIncident(context.deps.db, personOf(context, session), input)
    },
    'edit',
  )
}
