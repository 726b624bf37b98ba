import type { Knex } from 'knex'
import { z } from 'zod'
import { type IncidentFilter, LISTED_STATES } from '#shared/monitoring/alerting/incident-list.ts'
import {
  countIncidents,
  lastNotifications,
  listIncidents,
  listIncidentsByState,
} from '#shared/monitoring/alerting/incident-list-store.ts'
import type { ShownIncident } from '#shared/monitoring/alerting/incident-page-view.ts'
import { policiesOf } from '#shared/monitoring/alerting/policy-store.ts'
import { acknowledgeIncidents } from '#shared/monitoring/operations/incidents.ts'
import { findStatusPage } from '#shared/monitoring/pages/status-page-store.ts'
import { may } from '#shared/tenancy/accounts/roles.ts'
import { listMembers } from '#shared/tenancy/accounts/store.ts'
import { isUuid } from '#shared/uuid.ts'
import { decodeCursor, encodeCursor, paged } from '../../../paging.ts'
import { ListPage, type PageAction } from '../../lists/list.tsx'
import { personOf } from '../../shell/audit.ts'
import { type Context, type FormContext, field, type Pages } from '../../shell/context.ts'
import { goBack } from '../../shell/flash.ts'
import { sendPage } from '../../shell/layout.tsx'
import { requireProject } from '../../shell/workspace.ts'
import { NoIncidents } from './empty-list.tsx'
import { BulkBar, canAcknowledge, IncidentFilters, incidentColumns, MAX_COUNTED, RowForm, Tabs } from './list.tsx'
import { filterOf, listAddress, readListQuery, TABS } from './list-query.ts'
import { loadNextNotificationFacts } from './next-notification.tsx'

const PAGE_SIZE = 50
const MAX_BULK = 100

export function incidentListPages(pages: Pages): void {
  pages.get('/projects/:project/incidents', showList)
  pages.post('/projects/:project/incidents/ack', acknowledgeSelected)
}

async function showList(context: Context): Promise<void> {
  const workspace = await requireProject(context, 'view')
  const { project, session } = workspace
  const { db } = context.deps
  const now = context.deps.now()
  const query = readListQuery(context.query)
  const filterOfTab = (tab: typeof query.tab) => filterOf(query, tab, session.email, now)
  const [{ page, nextCursor }, counts, statusPage, comingOf, policies, people] = await Promise.all([
    readRows(db, project.id, filterOfTab(query.tab), context.query.get('cursor') ?? undefined),
    Promise.all(TABS.map(({ id }) => countIncidents(db, project.id, filterOfTab(id), MAX_COUNTED + 1))),
    findStatusPage(db, project.id),
    loadNextNotificationFacts(db, project.id, now),
    policiesOf(db, [project.id]),
    listMembers(db, project.organisationId),
  ])
  const last = await lastNotifications(
    db,
    page.map(({ id }) => id),
  )
  const base = `/projects/${project.uuid}`
  const path = `${base}/incidents`
  const mayRespond = may(project.role, 'respond')
  const noted: PageAction[] = [{ href: `${base}/status-notes`, label: 'Notes on the status page', isSecondary: true }]
  const { tab, ...filters } = query
  const countOf = Object.fromEntries(TABS.map(({ id }, index) => [id, counts[index] ?? 0]))
  const canSelect = mayRespond && page.some(canAcknowledge)
  const isFiltered = listAddress('', filters) !== ''
  const hasIncidents = counts.some((count) => count > 0)
  sendPage(
    context,
    { title: `Incidents · ${project.name}`, workspace, project, area: 'incidents' },
    <ListPage
      title="Incidents"
      label={`Incidents of ${project.name}`}
      path={path}
      actions={statusPage && may(project.role, 'edit') ? noted : []}
      intro={
        <div class="filters">
          <Tabs path={path} query={query} counts={countOf} />
          {(isFiltered || hasIncidents) && (
            <IncidentFilters path={path} query={query} policies={policies} people={people} />
          )}
          {mayRespond && page.length > 0 && <RowForm context={context} path={path} />}
          {canSelect && <BulkBar context={context} path={path} />}
        </div>
      }
      variant="wide-table incidents"
      columns={incidentColumns({ comingOf, last, people, canSelect, isOpen: tab !== 'resolved', mayRespond, now })}
      rows={page}
      empty={
        isFiltered ? (
          'No incident fits these filters.'
        ) : (
          <NoIncidents
            tab={tab}
            base={base}
            counts={countOf}
            lacksPolicy={policies.length === 0 && may(project.role, 'edit')}
          />
        )
      }
      filters={{ ...filters, tab: tab === 'open' ? null : tab }}
      pages={{ isFirst: !context.query.has('cursor'), nextCursor }}
    />,
  )
}

const Cursor = z.tuple([z.int().min(1).max(LISTED_STATES.length), z.int().min(0)])

/** Resolved incidents are read in the order of an index, because there may be many. */
async function readRows(db: Knex, projectId: number, filter: IncidentFilter, cursor: string | undefined) {
  const found = decodeCursor(cursor, Cursor)
  const after = found && { rank: found[0], n: found[1] }
  const rows: (ShownIncident & { rank: number })[] =
    filter.state === 'resolved'
      ? (await listIncidents(db, projectId, { ...filter, beforeN: after?.n ?? null }, PAGE_SIZE + 1)).map((row) => ({
          ...row,
          rank: LISTED_STATES.length,
        }))
      : await listIncidentsByState(db, projectId, filter, { after, limit: PAGE_SIZE + 1 })
  return paged(rows, PAGE_SIZE, ({ rank, n }) => encodeCursor([rank, n]))
}

/** Skips incidents that were resolved meanwhile. */
async function acknowledgeSelected(context: FormContext): Promise<void> {
  const { project, session } = await requireProject(context, 'respond')
  const { deps, form } = context
  const ids = [...new Set(form.getAll('incident').filter(isUuid))].slice(0, MAX_BULK)
  const note = field(form, 'note').slice(0, 2000)
  const input = { project, ids, by: session.email, note, via: 'page' } as const
  const results = await acknowledgeIncidents(deps.db, personOf(context, session), input, deps)
  const done = results.filter(({ error }) => error === null).length
  const path = `/projects/${project.uuid}/incidents`
  goBack(context, path, { notice: ids.length === 0 ? 'No incident was selected.' : `${done} acknowledged.` })
}
