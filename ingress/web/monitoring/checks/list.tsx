import { shownStatus } from '#shared/monitoring/checks/status.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { excludedSpans, merged } from '#shared/monitoring/maintenance/spans.ts'
import { downDays } from '#shared/monitoring/pages/down-days.ts'
import { sealedPingKey } from '#shared/monitoring/projects/store.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { may } from '#shared/tenancy/accounts/roles.ts'
import type { Context, Pages } from '../../shell/context.ts'
import { sendPage } from '../../shell/layout.tsx'
import { liveAddress } from '../../shell/live.ts'
import { type ProjectWorkspace, requireProject } from '../../shell/workspace.ts'
import { AttentionStrip, NoAlerts } from './attention-strip.tsx'
import { BulkBar, Filters, Pager } from './list-controls.tsx'
import { LIST_DAYS, type ListView, loadList, quietOf, rowState, withQuery } from './list-view.ts'
import { NoChecks } from './no-checks.tsx'
import { CheckRow, type RowProps } from './row.tsx'
import { RowForms } from './row-forms.tsx'
import { savedFilterPages } from './saved-filters.tsx'
import { sendWall, WALL_SIZE } from './wall.tsx'

const PAGE_SIZE = 50

export function checkListPages(pages: Pages): void {
  pages.get('/projects/:project/checks', async (context) => {
    const workspace = await loadAfterPings(context)
    const isWall = context.query.get('wall') === '1'
    const view = await loadList(context, workspace, isWall ? WALL_SIZE : PAGE_SIZE)
    return isWall ? sendWall(context, workspace, view) : sendList(context, workspace, view)
  })
  savedFilterPages(pages)
}

/** Waits for earlier pings and loads the project at the same time. */
async function loadAfterPings(context: Context): Promise<ProjectWorkspace> {
  const applied = context.session ? context.deps.barrier.pass('all') : undefined
  const [workspace] = await Promise.all([requireProject(context, 'view'), applied])
  return workspace
}

function sendList(context: Context, workspace: ProjectWorkspace, view: ListView): void {
  const { project } = workspace
  const { secrets, config } = context.deps
  const { summary, integrations, checks, filter } = view
  const sealed = sealedPingKey(view.keys)
  const mayEdit = may(project.role, 'edit')
  const pingBase = `${config.publicUrl}/ping`
  const pingKey = sealed === null || !mayEdit ? null : secrets.open('ping-key', sealed)
  const row = {
    integrations: integrations.filter((integration) => integration.disabledAt === null),
    project,
    mayEdit,
    now: view.now,
  }
  const down = workspace.attention?.down ?? summary.statuses.get('down') ?? 0
  const list = (
    <div data-region="checks">
      {checks.length === 0 ? (
        <p class="empty">No check fits these filters.</p>
      ) : (
        <Checks context={context} row={row} view={view} />
      )}
      <Pager
        context={context}
        next={view.next}
        previous={view.previous}
        shown={checks.length}
        found={summary.found}
        pageSize={PAGE_SIZE}
      />
    </div>
  )
  sendPage(
    context,
    {
      title: down > 0 ? `${down} down · ${project.name}` : `Checks · ${project.name}`,
      workspace,
      project,
      area: 'checks',
      isDown: down > 0,
      live: liveAddress(`/projects/${project.uuid}/events`, view.fingerprint),
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
      {view.reached !== null && summary.total >= view.reached && (
        <p class="notice" role="status">
          The project has as many checks as it may ({view.reached.toLocaleString('en')}): no more can be added.
        </p>
      )}
      {summary.total === 0 ? (
        <NoChecks project={project} integrations={integrations} row={{ pingBase, pingKey, mayEdit }} />
      ) : (
        <>
          <div data-region="attention">
            <AttentionStrip down={down} failing={integrations.filter(({ lastError }) => lastError !== '')} />
            {mayEdit && integrations.length === 0 && <NoAlerts projectUuid={project.uuid} />}
          </div>
          <div data-region="filters">
            <Filters
              context={context}
              summary={summary}
              filter={filter}
              quiet={view.quiet}
              projectUuid={project.uuid}
              saved={view.saved}
            />
          </div>
          {mayEdit && <BulkBar context={context} projectUuid={project.uuid} />}
          {mayEdit ? (
            <RowForms context={context} pingBase={pingBase} pingKey={pingKey}>
              {list}
            </RowForms>
          ) : (
            list
          )}
          <p class="list-foot">
            <a href={withQuery(context, { wall: '1' })}>Wall view</a>
            <span class="muted" data-scripted hidden>
              <kbd>/</kbd> search <kbd>j</kbd> <kbd>k</kbd> move <kbd>x</kbd> select
            </span>
          </p>
        </>
      )}
    </>,
  )
}

function Checks({
  context,
  row,
  view,
}: {
  context: Context
  row: Omit<RowProps, 'check' | 'status' | 'state' | 'days' | 'quiet' | 'policy'>
  view: ListView
}) {
  const groupOf = (tags: string) => (view.sort === 'tag' ? (splitTags(tags)[0] ?? 'No tag') : '')
  let group = ''
  return (
    <table class="checks">
      <caption class="hidden">Checks of {row.project.name}</caption>
      <Columns context={context} />
      <tbody>
        {view.checks.flatMap((check) => {
          const status = shownStatus(check, row.now, nextOccurrence)
          const known = view.flips.get(check.id) ?? []
          const excluded = excludedSpans(view.windows, { uuid: check.uuid, tags: splitTags(check.tags) })
          const unknown = merged(view.unknown.get(check.id) ?? [])
          const own = groupOf(check.tags)
          const isNew = own.toLowerCase() !== group.toLowerCase()
          group = own
          return [
            ...(isNew ? [<GroupHead key={`group ${own}`} name={own} view={view} />] : []),
            <CheckRow
              key={check.uuid}
              {...row}
              check={check}
              status={status}
              state={rowState(check, status, known)}
              quiet={quietOf(view, check)}
              policy={view.policies.get(check.id) ?? null}
              days={downDays(known, LIST_DAYS, row.now, { excluded, planned: excluded, unknown })}
            />,
          ]
        })}
      </tbody>
    </table>
  )
}

/** Shows a tag with its counts, which include checks listed under another tag. */
function GroupHead({ name, view }: { name: string; view: ListView }) {
  const counted = view.summary.tags.find(({ tag }) => tag === name)
  return (
    <tr class="group" id={`group-${encodeURIComponent(name)}`}>
      <th scope="rowgroup" colSpan={8}>
        {name}{' '}
        {counted && (
          <small>
            {counted.count} {counted.count === 1 ? 'check' : 'checks'}
            {counted.down > 0 && `, ${counted.down} down`}
          </small>
        )}
      </th>
    </tr>
  )
}

function Columns({ context }: { context: Context }) {
  return (
    <thead>
      <tr>
        <th scope="col" class="c-status">
          <input type="checkbox" id="select-all" data-scripted hidden aria-label="Select all of this page" />
          <span class="hidden">Status</span>
        </th>
        <th scope="col">
          <a href={withQuery(context, { sort: 'name' })}>Check</a>
        </th>
        <th scope="col" class="c-days">
          Last 30 days
        </th>
        <th scope="col">
          <a href={withQuery(context, { sort: 'status' })}>State</a>
        </th>
        <th
          scope="col"
          class="c-when"
          title="When pings are expected + grace time. A ping that is later makes the check go down."
        >
          Schedule
        </th>
        <th scope="col" class="c-last">
          <a href={withQuery(context, { sort: 'last-ping' })}>Last ping</a>
        </th>
        <th scope="col" class="c-next">
          Next
        </th>
        <th scope="col" class="c-integrations">
          Notified
        </th>
      </tr>
    </thead>
  )
}
