import { ConflictError, NotFoundError } from '#shared/errors.ts'
import type { ShownIncident } from '#shared/monitoring/alerting/incident-page-view.ts'
import { findIncident, listDecisions, timelineOf } from '#shared/monitoring/alerting/incident-read-store.ts'
import {
  acknowledgeIncident,
  noteIncident,
  reportIncident,
  unacknowledgeIncident,
} from '#shared/monitoring/operations/incidents.ts'
import { may, type Right } from '#shared/tenancy/accounts/roles.ts'
import { isUuid } from '#shared/uuid.ts'
import { personOf } from '../../shell/audit.ts'
import { type Context, type FormContext, field, type Pages } from '../../shell/context.ts'
import { goBack } from '../../shell/flash.ts'
import { sendPage } from '../../shell/layout.tsx'
import { checkPath, type ProjectWorkspace, requireRight, signedIn } from '../../shell/workspace.ts'
import { IncidentPage } from './incident-page.tsx'
import { incidentListPages } from './list-pages.tsx'
import { loadComing } from './next-message.tsx'

const MAX_TIMELINE_ENTRIES = 500

export function incidentPages(pages: Pages): void {
  incidentListPages(pages)
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
  goBack(context, `/incidents/${incident.id}`)
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
