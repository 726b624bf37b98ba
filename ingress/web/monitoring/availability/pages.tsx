import { shardsNow } from '#shared/contracts/ping-generations.ts'
import { listGaps } from '#shared/monitoring/availability/gap-list-store.ts'
import type { ListedGap } from '#shared/monitoring/availability/notice.ts'
import { formatDuration } from '#shared/monitoring/notifications/text-parts.ts'
import { Exact } from '../../components/basics.tsx'
import type { Context, Pages } from '../../shell/context.ts'
import { sendPage } from '../../shell/layout.tsx'
import { requireProject } from '../../shell/workspace.ts'

const LISTED = 100

/** When this service could not take signals, or could not look: for everybody who may see the project. */
export function gapPages(pages: Pages): void {
  pages.get('/projects/:project/gaps', showGaps)
}

async function showGaps(context: Context): Promise<void> {
  const workspace = await requireProject(context, 'view')
  const { project } = workspace
  const { db, installation } = context.deps
  const shards = shardsNow(installation.generations())
  const gaps = await listGaps(db, { projectId: project.id, before: null, limit: LISTED, shards })
  sendPage(
    context,
    { title: `Gaps · ${project.name}`, workspace, project, area: 'settings' },
    <>
      <h1>Gaps</h1>
      <p class="muted">
        When signals could not be taken, or nobody could look. A check that was expected then does not go down: its time
        counts anew from the end of the gap. The newest {LISTED} are shown.
      </p>
      {gaps.length === 0 ? (
        <p class="empty">There were none.</p>
      ) : (
        <section class="card table-card">
          <table class="plain-table stacked">
            <caption class="hidden">Gaps, the newest first</caption>
            <thead>
              <tr>
                <th scope="col">From (UTC)</th>
                <th scope="col">Until (UTC)</th>
                <th scope="col">Lasted</th>
                <th scope="col">What</th>
                <th scope="col">Checks that became unknown</th>
              </tr>
            </thead>
            <tbody>{gaps.map(row)}</tbody>
          </table>
        </section>
      )}
    </>,
  )
}

function row(gap: ListedGap) {
  const { id, from, until, checks, heard } = gap
  return (
    <tr key={id}>
      <td data-label="From (UTC)">
        <Exact at={from} />
      </td>
      <td data-label="Until (UTC)">{until === null ? 'still open' : <Exact at={until} />}</td>
      <td data-label="Lasted">{until === null ? '–' : formatDuration(until - from)}</td>
      <td>{gapLabel(gap)}</td>
      <td data-label="Checks that became unknown">{checks === 0 ? 'none' : `${checks}, ${heard} heard since`}</td>
    </tr>
  )
}

const LISTENERS = {
  http: 'Pings by HTTP could not be taken',
  smtp: 'Pings by e-mail could not be taken',
  sweeper: 'Nobody looked for missing pings: nothing was lost, messages were late',
  notifier: 'Nobody sent messages: nothing was lost, messages were late',
} as const

function gapLabel({ listener, kind, scope, cause }: ListedGap): string {
  if (kind === 'detection') return LISTENERS[listener]
  if (kind === 'clock') return `${LISTENERS[listener]}: ${cause}`
  const part = kind === 'partial' ? ' by one of several processes' : scope === 'some' ? ' of some checks' : ''
  return `${LISTENERS[listener]}${part} (${cause})`
}
