import { shardsNow } from '#shared/contracts/ping-generations.ts'
import { listGaps } from '#shared/monitoring/availability/gap-list-store.ts'
import type { ListedGap } from '#shared/monitoring/availability/notice.ts'
import { formatDuration } from '#shared/monitoring/notifications/text-parts.ts'
import { type Column, ListPage } from '../../lists/list.tsx'
import { Exact } from '../../shell/basics.tsx'
import type { Context, Pages } from '../../shell/context.ts'
import { sendPage } from '../../shell/layout.tsx'
import { requireProject } from '../../shell/workspace.ts'

const LISTED = 100

/** Visible to every member of the project. */
export function gapPages(pages: Pages): void {
  pages.get('/projects/:project/gaps', showGaps)
}

async function showGaps(context: Context): Promise<void> {
  const workspace = await requireProject(context, 'view')
  const { project } = workspace
  const { db, installation } = context.deps
  const shards = shardsNow(installation.generations())
  sendPage(
    context,
    { title: `Outages on our side · ${project.name}`, workspace, project, area: 'settings' },
    <ListPage
      title="Outages on our side"
      label="Outages on our side, the newest first"
      path={`/projects/${project.uuid}/gaps`}
      intro={
        <p class="muted">
          When pings could not be received, or missing pings were not detected. A check whose ping was expected then
          does not go down: its deadline is extended. The newest {LISTED} are shown.
        </p>
      }
      variant="stacked"
      columns={GAP_COLUMNS}
      rows={await listGaps(db, { projectId: project.id, before: null, limit: LISTED, shards })}
      empty="There were none."
    />,
  )
}

const GAP_COLUMNS: Column<ListedGap>[] = [
  { title: 'From (UTC)', isLabelled: true, cell: ({ from }) => <Exact at={from} /> },
  {
    title: 'Until (UTC)',
    isLabelled: true,
    cell: ({ until }) => (until === null ? 'still open' : <Exact at={until} />),
  },
  {
    title: 'Lasted',
    isLabelled: true,
    cell: ({ from, until }) => (until === null ? '–' : formatDuration(until - from)),
  },
  { title: 'Effect', cell: gapLabel },
  {
    title: 'Checks that became unknown',
    isLabelled: true,
    cell: ({ checks, heard }) => (checks === 0 ? 'none' : `${checks}, ${heard} pinged since`),
  },
]

const LISTENERS = {
  http: 'Pings by HTTP could not be received',
  smtp: 'Pings by e-mail could not be received',
  sweeper: 'Missing pings were not detected: nothing was lost, notifications were late',
  notifier: 'Notifications were not sent: nothing was lost, they were late',
} as const

function gapLabel({ listener, kind, scope, cause }: ListedGap): string {
  if (kind === 'detection') return LISTENERS[listener]
  if (kind === 'clock') return `${LISTENERS[listener]}: ${cause}`
  const part = kind === 'partial' ? ' by one of several processes' : scope === 'some' ? ' of some checks' : ''
  return `${LISTENERS[listener]}${part} (${cause})`
}
