import { listChannels, type StoredChannel } from '#shared/monitoring/channels/store.ts'
import type { ShownStatus } from '#shared/monitoring/checks/check.ts'
import { shownStatus } from '#shared/monitoring/checks/status.ts'
import {
  type CheckFilter,
  checkSorts,
  formatCursor,
  parseListQuery,
  summarise,
  type TagCount,
} from '#shared/monitoring/pages/check-list.ts'
import { groupChecks, listCheckPage } from '#shared/monitoring/pages/check-list-store.ts'
import { findReachedLimit } from '#shared/monitoring/projects/quota-store.ts'
import { listProjectKeys } from '#shared/monitoring/projects/store.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { may } from '#shared/tenancy/accounts/roles.ts'
import { paged } from '../../paging.ts'
import { Form } from '../components/form.tsx'
import { StatusGlyph, statusNames } from '../components/icons.tsx'
import type { Context, Pages } from '../frame/context.ts'
import { sendPage } from '../frame/layout.tsx'
import { liveAddress } from '../frame/live.ts'
import { openProject, type ProjectWorkspace } from '../frame/workspace.ts'
import { CheckRow } from './row.tsx'

const PAGE_SIZE = 50

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
          <div data-region="filters">
            <Filters context={context} counts={counts} total={total} tags={tags} filter={filter} />
          </div>
          {mayEdit && <BulkBar context={context} projectUuid={project.uuid} />}
          <div data-region="checks">
            {checks.length === 0 ? (
              <p class="empty">No check fits these filters.</p>
            ) : (
              <table class="checks">
                <caption class="hidden">Checks of {project.name}</caption>
                <Columns />
                <tbody>
                  {checks.map((check) => (
                    <CheckRow
                      key={check.uuid}
                      {...row}
                      check={check}
                      status={shownStatus(check, now, nextOccurrence)}
                    />
                  ))}
                </tbody>
              </table>
            )}
            <Pager context={context} next={next} isFirst={after === null} />
          </div>
        </>
      )}
    </>,
  )
}

function Columns() {
  return (
    <thead>
      <tr>
        <th scope="col">Status</th>
        <th scope="col">Name and tags</th>
        <th scope="col">Ping address</th>
        <th scope="col">Schedule</th>
        <th scope="col">Last ping</th>
        <th scope="col">Integrations</th>
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

const shownStatuses: readonly ShownStatus[] = ['down', 'grace', 'up', 'new', 'paused']

function Filters(props: {
  context: Context
  counts: ReadonlyMap<ShownStatus, number>
  total: number
  tags: readonly TagCount[]
  filter: CheckFilter
}) {
  const { context, counts, total, tags, filter } = props
  return (
    <>
      <div class="filters">
        <ul class="chips" aria-label="Status">
          <li>
            <a href={withQuery(context, { status: null })} aria-current={filter.status === null ? 'true' : undefined}>
              All <b>{total}</b>
            </a>
          </li>
          {shownStatuses
            .filter((status) => (counts.get(status) ?? 0) > 0 || filter.status === status)
            .map((status) => (
              <li key={status}>
                <a
                  class={`chip-${status}`}
                  href={withQuery(context, { status: filter.status === status ? null : status })}
                  aria-current={filter.status === status ? 'true' : undefined}
                >
                  {statusNames[status]} <b>{counts.get(status) ?? 0}</b>
                </a>
              </li>
            ))}
        </ul>
        <form class="search" method="get">
          {filter.status !== null && <input type="hidden" name="status" value={filter.status} />}
          {filter.tags.map((tag) => (
            <input key={tag} type="hidden" name="tag" value={tag} />
          ))}
          <label class="hidden" for="q">
            Search checks
          </label>
          <input id="q" name="q" type="search" value={filter.search} placeholder="Search" maxLength={100} />
          <label class="hidden" for="sort">
            Order
          </label>
          <select id="sort" name="sort" data-submit>
            {checkSorts.map((sort) => (
              <option key={sort} value={sort} selected={sort === context.query.get('sort')}>
                {sortNames[sort]}
              </option>
            ))}
          </select>
          <button type="submit">Show</button>
        </form>
      </div>
      {tags.length > 0 && (
        <ul class="tags" aria-label="Tags">
          {tags.map(({ tag, count, down }) => {
            const isOn = filter.tags.includes(tag)
            const wanted = isOn ? filter.tags.filter((one) => one !== tag) : [...filter.tags, tag]
            return (
              <li key={tag}>
                <a
                  class={down > 0 ? 'tag has-down' : 'tag'}
                  href={withQuery(context, { tag: wanted })}
                  aria-current={isOn ? 'true' : undefined}
                  title={down > 0 ? `${down} of ${count} down` : `${count} checks`}
                >
                  {tag} <small>{down > 0 ? `${down} of ${count} down` : count}</small>
                </a>
              </li>
            )
          })}
        </ul>
      )}
    </>
  )
}

const sortNames = {
  name: 'By name',
  status: 'Down first',
  'last-ping': 'Last ping first',
  created: 'Oldest first',
} as const

function BulkBar({ context, projectUuid }: { context: Context; projectUuid: string }) {
  return (
    <Form context={context} action={`/projects/${projectUuid}/checks/bulk`} class="bulk" id="bulk-form">
      <input type="hidden" name="back" value={context.request.originalUrl} />
      <span class="bulk-label">With those selected</span>
      <span class="bulk-buttons">
        <button type="submit" name="do" value="pause" id="bulk-pause">
          Pause
        </button>
        <button type="submit" name="do" value="resume">
          Resume
        </button>
        <label class="hidden" for="bulk-tag">
          Tag to add
        </label>
        <input id="bulk-tag" name="tag" placeholder="tag" maxLength={50} autocomplete="off" />
        <button type="submit" name="do" value="tag">
          Add tag
        </button>
        <button type="submit" name="do" value="delete" class="danger" data-confirm="Delete the selected checks?">
          Delete
        </button>
      </span>
    </Form>
  )
}

function Pager({ context, next, isFirst }: { context: Context; next: string | null; isFirst: boolean }) {
  if (next === null && isFirst) return null
  return (
    <nav class="pager" aria-label="Pages">
      {!isFirst && <a href={withQuery(context, { after: null })}>First page</a>}
      {next !== null && (
        <a href={withQuery(context, { after: next })} rel="next">
          Next page
        </a>
      )}
    </nav>
  )
}

/** The address of this list with some parameters replaced; a change of filters leads to the first page. */
function withQuery(context: Context, changes: Record<string, string | readonly string[] | null>): string {
  const query = new URLSearchParams(context.query)
  query.delete('after')
  query.delete('done')
  for (const [name, value] of Object.entries(changes)) {
    query.delete(name)
    for (const one of value === null ? [] : typeof value === 'string' ? [value] : value) query.append(name, one)
  }
  const text = query.toString()
  return text === '' ? context.request.path : `${context.request.path}?${text}`
}
