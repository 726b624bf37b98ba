import { listChannels, type StoredChannel } from '#shared/monitoring/channels/store.ts'
import { shownStatus } from '#shared/monitoring/checks/status.ts'
import { formatCursor, parseListQuery, summarise } from '#shared/monitoring/pages/check-list.ts'
import { groupChecks, type ListedCheck, listCheckPage } from '#shared/monitoring/pages/check-list-store.ts'
import { downDays } from '#shared/monitoring/pages/down-days.ts'
import { type CheckFlip, listFlipsOfChecks } from '#shared/monitoring/pages/status-history-store.ts'
import { findReachedLimit } from '#shared/monitoring/projects/quota-store.ts'
import { listProjectKeys } from '#shared/monitoring/projects/store.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { may } from '#shared/tenancy/accounts/roles.ts'
import { paged } from '../../paging.ts'
import { StatusGlyph } from '../components/icons.tsx'
import type { Context, Pages } from '../frame/context.ts'
import { sendPage } from '../frame/layout.tsx'
import { liveAddress } from '../frame/live.ts'
import { openProject, type ProjectWorkspace } from '../frame/workspace.ts'
import { AttentionStrip } from './attention-strip.tsx'
import { BulkBar, Filters, Pager } from './list-controls.tsx'
import { CheckRow, type RowProps } from './row.tsx'
import { rowState } from './row-state.ts'

const PAGE_SIZE = 50
const DAYS = 30

export function checkListPages(pages: Pages): void {
  pages.get('/projects/:project/checks', showList)
}

async function showList(context: Context): Promise<void> {
  const workspace = await openProject(context, 'view')
  const { project } = workspace
  const { db, secrets, config } = context.deps
  const { filter, sort, after } = parseListQuery(context.query)
  await context.deps.barrier.pass('all')
  const now = context.deps.now()
  // Before the rows, so that what changes in between is noticed by the open page.
  const summary = summarise(await groupChecks(db, project.id, now))
  const [reached, found, channels, keys] = await Promise.all([
    findReachedLimit(db, project.id),
    listCheckPage(db, project.id, { filter, sort, after, limit: PAGE_SIZE + 1, now }),
    listChannels(db, project.id),
    listProjectKeys(db, project.id),
  ])
  const { page: checks, nextCursor: next } = paged(found, PAGE_SIZE, ({ sortKey, id }) =>
    formatCursor({ key: sortKey, id }),
  )
  const flips = await listFlipsOfChecks(
    db,
    checks.map(({ id }) => id),
  )
  const failing = channels.filter(({ lastError }) => lastError !== '')
  const { statuses: counts, total, tags } = summary
  const sealedPingKey = keys.find((key) => key.kind === 'ping')?.sealed ?? null
  const mayEdit = may(project.role, 'edit')
  const row = {
    context,
    channels: channels.filter((channel) => channel.disabledAt === null),
    project,
    pingBase: `${config.publicUrl}/ping`,
    pingKey: sealedPingKey === null || !mayEdit ? null : secrets.open('ping-key', sealedPingKey),
    mayEdit,
    now,
  }
  const down = counts.get('down') ?? 0
  sendPage(
    context,
    {
      title: down > 0 ? `${down} down · ${project.name}` : `Checks · ${project.name}`,
      workspace,
      project,
      area: 'checks',
      isDown: down > 0,
      live: liveAddress(`/projects/${project.uuid}/events`, summary.mark),
    },
    <>
      <div class="page-head">
        <h1>Checks</h1>
        {mayEdit && (
          <a class="button primary" href={`/projects/${project.uuid}/checks/new`}>
            Add check
          </a>
        )}
      </div>
      {reached !== null && total >= reached && (
        <p class="notice" role="status">
          The project has as many checks as it may ({reached.toLocaleString('en')}): no more can be added.
        </p>
      )}
      {total === 0 ? (
        <Empty workspace={workspace} channels={channels} mayEdit={mayEdit} />
      ) : (
        <>
          <div data-region="attention">
            <AttentionStrip down={down} failing={failing} />
          </div>
          <div data-region="filters">
            <Filters context={context} counts={counts} total={total} tags={tags} filter={filter} />
          </div>
          {mayEdit && <BulkBar context={context} projectUuid={project.uuid} />}
          <div data-region="checks">
            {checks.length === 0 ? (
              <p class="empty">No check fits these filters.</p>
            ) : (
              <Checks row={row} checks={checks} flips={flips} />
            )}
            <Pager context={context} next={next} isFirst={after === null} />
          </div>
        </>
      )}
    </>,
  )
}

/** The rows, each with what is known of its last days. */
function Checks(props: {
  row: Omit<RowProps, 'check' | 'status' | 'state' | 'days'>
  checks: readonly ListedCheck[]
  flips: ReadonlyMap<number, CheckFlip[]>
}) {
  const { row, checks, flips } = props
  return (
    <table class="checks">
      <caption class="hidden">Checks of {row.project.name}</caption>
      <Columns />
      <tbody>
        {checks.map((check) => {
          const status = shownStatus(check, row.now, nextOccurrence)
          const known = flips.get(check.id) ?? []
          return (
            <CheckRow
              key={check.uuid}
              {...row}
              check={check}
              status={status}
              state={rowState(check, status, known)}
              days={downDays(known, DAYS, row.now)}
            />
          )
        })}
      </tbody>
    </table>
  )
}

function Columns() {
  return (
    <thead>
      <tr>
        <th scope="col" class="c-status">
          <input type="checkbox" id="select-all" data-scripted hidden aria-label="Select all of this page" />
          <span class="hidden">Status</span>
        </th>
        <th scope="col">Check</th>
        <th scope="col" class="c-days">
          Last 30 days
        </th>
        <th scope="col">State</th>
        <th scope="col" class="c-when">
          Schedule
        </th>
        <th scope="col" class="c-last">
          Last ping
        </th>
        <th scope="col" class="c-next">
          Next
        </th>
        <th scope="col" class="c-channels">
          Told
        </th>
        <th scope="col">
          <span class="hidden">Actions</span>
        </th>
      </tr>
    </thead>
  )
}

function Empty(props: { workspace: ProjectWorkspace; channels: readonly StoredChannel[]; mayEdit: boolean }) {
  const { project } = props.workspace
  return (
    <section class="card empty-card">
      <StatusGlyph status="new" />
      <h2>Nothing is watched yet</h2>
      <p>
        A check waits for a signal from a job: a backup, a report, a queue. When the signal does not come in time, the
        check goes down and the integrations tell you.
      </p>
      {props.mayEdit && (
        <p class="row">
          <a class="button primary" href={`/projects/${project.uuid}/checks/new`}>
            Add the first check
          </a>
          {props.channels.length === 0 && (
            <a class="button" href={`/projects/${project.uuid}/integrations/new`}>
              Connect an integration
            </a>
          )}
        </p>
      )}
    </section>
  )
}
