import {
  type CheckFilter,
  checkSorts,
  type ListSummary,
  type QuietCounts,
} from '#shared/monitoring/pages/check-list.ts'
import type { SavedFilter } from '#shared/monitoring/pages/saved-filter-store.ts'
import { Form } from '../../forms/form.tsx'
import type { Context } from '../../shell/context.ts'
import { statusNames } from '../../shell/icons.tsx'
import { withQuery } from './list-view.ts'
import { MuteLengths } from './maintenance.tsx'
import { SavedFilters } from './saved-filters.tsx'

const shownStatuses = ['down', 'grace', 'running', 'up', 'new', 'paused'] as const
const quietReasons = ['maintenance', 'acknowledged'] as const
const quietNames = { maintenance: 'Muted or in maintenance', acknowledged: 'Acknowledged' } as const
const filterNames = { ...statusNames, running: 'Running' } as const

export function Filters(props: {
  context: Context
  summary: ListSummary
  filter: CheckFilter
  quiet: QuietCounts
  projectUuid: string
  saved: readonly SavedFilter[]
}) {
  const { context, summary, filter } = props
  const { statuses: counts, tags, total, found } = summary
  const isFiltered = filter.status !== null || filter.quiet !== null || filter.tags.length > 0 || filter.search !== ''
  return (
    <>
      <div class="filters">
        <ul class="chips" aria-label="Status">
          <li>
            <a href={withQuery(context, { status: null })} aria-current={filter.status === null ? 'true' : undefined}>
              All <b>{[...counts].reduce((sum, [status, count]) => sum + (status === 'running' ? 0 : count), 0)}</b>
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
                  {filterNames[status]} <b>{counts.get(status) ?? 0}</b>
                </a>
              </li>
            ))}
          {quietReasons
            .filter((reason) => props.quiet[reason] > 0 || filter.quiet === reason)
            .map((reason) => (
              <li key={reason}>
                <a
                  class="chip-quiet"
                  href={withQuery(context, { quiet: filter.quiet === reason ? null : reason })}
                  aria-current={filter.quiet === reason ? 'true' : undefined}
                >
                  {quietNames[reason]} <b>{props.quiet[reason]}</b>
                </a>
              </li>
            ))}
        </ul>
        <div class="filter-tools">
          <form class="search" method="get">
            {filter.status !== null && <input type="hidden" name="status" value={filter.status} />}
            {filter.quiet !== null && <input type="hidden" name="quiet" value={filter.quiet} />}
            {filter.tags.map((tag) => (
              <input key={tag} type="hidden" name="tag" value={tag} />
            ))}
            <label class="hidden" for="q">
              Search checks
            </label>
            <input
              id="q"
              name="q"
              type="search"
              value={filter.search}
              placeholder="Search"
              aria-keyshortcuts="/"
              maxLength={100}
            />
            <label class="hidden" for="sort">
              Order
            </label>
            <select id="sort" name="sort" data-submit>
              {checkSorts.map((sort) => (
                <option key={sort} value={sort} selected={sort === (context.query.get('sort') ?? 'status')}>
                  {sortNames[sort]}
                </option>
              ))}
            </select>
            <noscript>
              <button type="submit">Show</button>
            </noscript>
          </form>
          <SavedFilters context={context} projectUuid={props.projectUuid} saved={props.saved} />
        </div>
      </div>
      {isFiltered && (
        <p class="found">
          {found.toLocaleString('en')} of {total.toLocaleString('en')} checks{' '}
          <a href={withQuery(context, { status: null, quiet: null, tag: null, q: null })}>Clear filters</a>
        </p>
      )}
      <Tags context={context} filter={filter} tags={tags} />
    </>
  )
}

function Tags({ context, filter, tags }: { context: Context; filter: CheckFilter; tags: ListSummary['tags'] }) {
  if (tags.length === 0) return null
  return (
    <ul class="tags" aria-label="Tags">
      {tags.map(({ tag, count, down }) => {
        const isOn = filter.tags.includes(tag)
        const wanted = isOn ? filter.tags.filter((one) => one !== tag) : [...filter.tags, tag]
        return (
          <li key={tag}>
            <a
              class="tag"
              href={withQuery(context, { tag: wanted })}
              aria-current={isOn ? 'true' : undefined}
              title={down > 0 ? `${down} of ${count} down` : `${count} checks`}
            >
              {down > 0 && <span class="dot" />}
              {tag} <small>{down > 0 ? `${down}/${count}` : count}</small>
            </a>
          </li>
        )
      })}
    </ul>
  )
}

const sortNames = {
  name: 'By name',
  status: 'Down first',
  tag: 'Grouped by tag',
  'last-ping': 'Last ping first',
  created: 'Oldest first',
} as const

export function BulkBar({ context, projectUuid }: { context: Context; projectUuid: string }) {
  return (
    <Form context={context} action={`/projects/${projectUuid}/checks/bulk`} class="bulk" id="bulk-form">
      <input type="hidden" name="back" value={context.request.originalUrl} />
      <b class="bulk-label" id="bulk-count">
        With those selected
      </b>
      <span class="bulk-buttons">
        <button type="submit" name="do" value="pause" id="bulk-pause">
          Pause
        </button>
        <button type="submit" name="do" value="resume">
          Resume
        </button>
        <label class="hidden" for="bulk-mute">
          Mute for
        </label>
        <MuteLengths id="bulk-mute" />
        <button type="submit" name="do" value="mute">
          Mute
        </button>
        <label class="hidden" for="bulk-tag">
          Tag to add
        </label>
        <input id="bulk-tag" name="tag" placeholder="tag" maxLength={50} autocomplete="off" />
        <button type="submit" name="do" value="tag">
          Add tag
        </button>
        <button
          type="submit"
          name="do"
          value="delete"
          class="danger"
          data-confirm="Delete {selected} with their logs? This cannot be undone."
          data-yes="Delete"
        >
          Delete
        </button>
      </span>
    </Form>
  )
}

/** @param props.shown number of rows on this page */
export function Pager(props: {
  context: Context
  next: string | null
  previous: string | null
  shown: number
  found: number
  pageSize: number
}) {
  const { context, next, previous, shown, found, pageSize } = props
  if (next === null && previous === null) return null
  const requested = Number(context.query.get('from') ?? '0')
  const from = previous !== null && Number.isSafeInteger(requested) && requested > 0 ? requested : 0
  const back = String(Math.max(0, from - pageSize))
  return (
    <nav class="pager" aria-label="Pages">
      <span class="muted">
        {(from + 1).toLocaleString('en')}–{(from + shown).toLocaleString('en')} of {found.toLocaleString('en')}
      </span>
      {previous !== null && (
        <>
          <a href={withQuery(context, {})}>First page</a>
          <a href={withQuery(context, { before: previous, from: back })} rel="prev">
            Previous page
          </a>
        </>
      )}
      {next !== null && (
        <a href={withQuery(context, { after: next, from: String(from + shown) })} rel="next">
          Next page
        </a>
      )}
    </nav>
  )
}
