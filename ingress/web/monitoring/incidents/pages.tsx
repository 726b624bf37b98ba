import { ConflictError, NotFoundError } from '#shared/errors.ts'
import type { ShownIncident } from '#shared/monitoring/alerting/incident-page-view.ts'
import {
  findIncident,
  listDecisions,
  listIncidents,
  timelineOf,
} from '#shared/monitoring/alerting/incident-read-store.ts'
import {
  acknowledgeIncident,
  noteIncident,
  reportIncident,
  unacknowledgeIncident,
} from '#shared/monitoring/operations/incidents.ts'
import { findStatusPage } from '#shared/monitoring/pages/status-page-store.ts'
import { may, type Right } from '#shared/tenancy/accounts/roles.ts'
import { type Micros, toSeconds } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import { type Column, ListPage, type PageAction } from '../../lists/list.tsx'
import { personOf } from '../../shell/audit.ts'
import { Ago } from '../../shell/basics.tsx'
import { type Context, type FormContext, field, type Pages, redirect } from '../../shell/context.ts'
import { humanDuration } from '../../shell/format.ts'
import { sendPage } from '../../shell/layout.tsx'
import { checkPath, type ProjectWorkspace, requireProject, requireRight, signedIn } from '../../shell/workspace.ts'
import { IncidentPage, stateText } from './incident-page.tsx'
import { loadComing, NextMessage } from './next-message.tsx'

const LISTED = 100
const MAX_TIMELINE_ENTRIES = 500

export function incidentPages(pages: Pages): void {
  pages.get('/projects/:project/incidents', showList)
  pages.get('/incidents/:incident', showIncident)
  pages.post('/incidents/:incident/ack', (context) =>
    act(context, (workspace, own) => {
      const note = field(context.form, 'note').slice(0, 2000)
      const input = { ...own, by: workspace.session.email, note, via: 'page' } as const
      return acknowledgeIncident(context.deps.db, personOf(context, workspace.session), input, context.deps)
    }),
  )
  pages.post('/incidents/:incident/unack', (context) =>
    act(context, ({ session }, own) =>
      unacknowledgeIncident(context.deps.db, personOf(context, session), { ...own, via: 'page' }),
    ),
  )
  pages.post('/incidents/:incident/note', (context) =>
    act(context, async ({ session }, own) => {
      const text = field(context.form, 'text').slice(0, 2000)
      const input = { ...own, text, via: 'page' } as const
      if (text !== '') await noteIncident(context.deps.db, personOf(context, session), input)
    }),
  )
  pages.post('/incidents/:incident/report', (context) =>
    act(context, ({ session }, own) => {
      const text = field(context.form, 'report').slice(0, 20_000)
      return reportIncident(context.deps.db, personOf(context, session), { ...own, text, via: 'page' })
    }),
  )
}

/** Runs an action on the incident of the path. Its page shows if the action was no longer possible. */
async function act(
  context: FormContext,
  work: (workspace: ProjectWorkspace, own: { project: ProjectWorkspace['project']; id: string }) => Promise<unknown>,
): Promise<void> {
  const { incident, ...workspace } = await requireIncident(context, 'edit')
  try {
    await work(workspace, { project: workspace.project, id: incident.id })
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error
  }
  redirect(context, `/incidents/${incident.id}`)
}

/** @throws NotFoundError for incidents of other users' projects */
async function requireIncident(
  context: Context,
  right: Right,
): Promise<ProjectWorkspace & { incident: ShownIncident }> {
  const workspace = await signedIn(context)
  const id = context.params.incident ?? ''
  for (const project of isUuid(id) ? workspace.projects : []) {
    const incident = await findIncident(context.deps.db, project.id, id)
    if (!incident) continue
    await requireRight(context, workspace, project, right)
    return { ...workspace, project, incident }
  }
  throw new NotFoundError('There is no such incident, or it is not one of yours.')
}

async function showIncident(context: Context): Promise<void> {
  const { incident, ...workspace } = await requireIncident(context, 'view')
  const { project } = workspace
  const { db } = context.deps
  const [timeline, comingOf, [decision]] = await Promise.all([
    timelineOf(db, incident, MAX_TIMELINE_ENTRIES),
    loadComing(db, project.id),
    listDecisions(db, incident.checkId, { from: null, before: null, beforeId: null }, 1),
  ])
  const check = { uuid: incident.checkUuid, name: incident.name }
  sendPage(
    context,
    { title: `${incident.name || 'A check'} · ${project.name}`, workspace, project, area: 'incidents' },
    <IncidentPage
      context={context}
      incident={incident}
      coming={comingOf(incident, decision ?? null)}
      timeline={timeline}
      checkPath={checkPath(check, project)}
      mayEdit={may(project.role, 'edit')}
      now={context.deps.now()}
    />,
  )
}

async function showList(context: Context): Promise<void> {
  const workspace = await requireProject(context, 'view')
  const { project } = workspace
  const { db } = context.deps
  const now = context.deps.now()
  const any = { checkId: null, tag: null, from: null, before: null, beforeN: null }
  const open = await listIncidents(db, project.id, { ...any, state: 'open' }, LISTED)
  const resolved = await listIncidents(db, project.id, { ...any, state: 'resolved' }, LISTED)
  const [statusPage, comingOf] = await Promise.all([findStatusPage(db, project.id), loadComing(db, project.id)])
  const base = `/projects/${project.uuid}`
  const noted: PageAction[] = [{ href: `${base}/status-notes`, label: 'Notes on the status page', isSecondary: true }]
  sendPage(
    context,
    { title: `Incidents · ${project.name}`, workspace, project, area: 'incidents' },
    <ListPage
      title="Incidents"
      label={`Incidents of ${project.name}, open ones first`}
      path={`${base}/incidents`}
      actions={statusPage && may(project.role, 'edit') ? noted : []}
      look="stacked"
      columns={incidentColumns(comingOf, now)}
      rows={[...open, ...resolved]}
      empty="No check of this project has gone down yet."
    />,
  )
}

function incidentColumns(comingOf: Awaited<ReturnType<typeof loadComing>>, now: Micros): Column<ShownIncident>[] {
  return [
    { title: 'Check', cell: ({ id, name }) => <a href={`/incidents/${id}`}>{name || 'A check without a name'}</a> },
    { title: 'Since', isLabelled: true, cell: ({ downAt }) => <Ago at={downAt} now={now} /> },
    {
      title: 'State',
      isLabelled: true,
      cell: (incident) => (
        <>
          {stateText(incident)}
          {incident.resolvedAt !== null && (
            <span class="muted">
              {' · lasted '}
              {humanDuration(toSeconds(Math.max(0, incident.resolvedAt - incident.downAt)))}
            </span>
          )}
        </>
      ),
    },
    {
      title: 'Next message',
      isLabelled: ({ state }) => state !== 'resolved',
      cell: (incident) =>
        incident.state !== 'resolved' && <NextMessage incident={incident} {...comingOf(incident, null)} now={now} />,
    },
  ]
}
