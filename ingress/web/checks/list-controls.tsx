import type { ShownStatus } from '#shared/monitoring/checks/check.ts'
import { type CheckFilter, checkSorts, type TagCount } from '#shared/monitoring/pages/check-list.ts'
import { Form } from '../components/form.tsx'
import { statusNames } from '../components/icons.tsx'
import type { Context } from '../frame/context.ts'

const shownStatuses: readonly ShownStatus[] = ['down', 'grace', 'up', 'new', 'paused']

export function Filters(props: {
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
      </div>
      {tags.length > 0 && (
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

export function Pager({ context, next, isFirst }: { context: Context; next: string | null; isFirst: boolean }) {
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
