import type { ComponentChildren } from 'preact'

export interface Column<Row> {
  title: string
  cell: (row: Row) => ComponentChildren
  /** CSS classes of the cells */
  variant?: string
  isNumber?: boolean
  /** the title is for screen readers only */
  isTitleHidden?: boolean
  /** repeats the title beside the value on narrow screens, where the table is stacked */
  isLabelled?: boolean | ((row: Row) => boolean)
  isHeading?: boolean
  hint?: (row: Row) => string
}

interface TableProps<Row> {
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  /** CSS classes of the table */
  variant?: string | undefined
  rowId?: (row: Row) => string
}

/** The bare table, for a card with other content. */
export function PlainTable<Row>({ columns, rows, variant, rowId }: TableProps<Row>) {
  return (
    <table class={variant ? `plain-table ${variant}` : 'plain-table'}>
      <thead>
        <tr>
          {columns.map(({ title, isNumber, isTitleHidden }) => (
            <th key={title} scope="col" class={isNumber ? 'number' : undefined}>
              {isTitleHidden ? <span class="hidden">{title}</span> : title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row} id={rowId?.(row)}>
            {columns.map((column) => (
              <Cell key={column.title} column={column} row={row} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Cell<Row>({ column, row }: { column: Column<Row>; row: Row }) {
  const {
    title,
    cell,
    isNumber,
    variant = isNumber ? 'number figure' : undefined,
    isHeading,
    isLabelled = false,
    hint,
  } = column
  if (isHeading) {
    return (
      <th scope="row" class={variant}>
        {cell(row)}
      </th>
    )
  }
  const hasLabel = typeof isLabelled === 'function' ? isLabelled(row) : isLabelled
  return (
    <td class={variant} title={hint?.(row)} data-label={hasLabel ? title : undefined}>
      {cell(row)}
    </td>
  )
}

/** A table in a card that scrolls sideways. Returns nothing without rows. */
export function Table<Row>({
  label,
  frame = 'card table-card scroll',
  variant = 'wide-table',
  ...table
}: TableProps<Row> & { label: string; frame?: string }) {
  if (table.rows.length === 0) return null
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section class={frame} tabIndex={0} aria-label={label}>
      <PlainTable variant={variant} {...table} />
    </section>
  )
}

export function MonoLink({ href, text }: { href: string; text: string }) {
  return (
    <a class="mono" href={href}>
      {text}
    </a>
  )
}

/** Null and empty values are omitted from addresses. */
export type Filters = Readonly<Record<string, string | null>>

function listUrl(path: string, filters: Filters, cursor: Filters = {}): string {
  const chosen = Object.entries({ ...filters, ...cursor }).flatMap(([name, value]) => (value ? [[name, value]] : []))
  return chosen.length === 0 ? path : `${path}?${new URLSearchParams(chosen)}`
}

export interface PageLinks {
  isFirst: boolean
  nextCursor: string | number | null
  /** parameter of the cursor in the address */
  cursorName?: string
}

export function Pager({ path, filters = {}, pages }: { path: string; filters?: Filters; pages: PageLinks }) {
  const { isFirst, nextCursor, cursorName = 'cursor' } = pages
  return (
    <nav class="pager" aria-label="Pages">
      {!isFirst && <a href={listUrl(path, filters)}>Newest</a>}
      {nextCursor !== null && (
        <a href={listUrl(path, filters, { [cursorName]: String(nextCursor) })} rel="next">
          Older
        </a>
      )}
    </nav>
  )
}

/** Links to all rows, and to the rows of each value of a filter. */
export function FilterChips(props: {
  label: string
  path: string
  name: string
  values: readonly string[]
  chosen: string | null
}) {
  const { label, path, name, values, chosen } = props
  return (
    <ul class="chips small" aria-label={label}>
      {[null, ...values].map((value) => (
        <li key={value}>
          <a href={listUrl(path, { [name]: value })} aria-current={value === chosen ? 'true' : undefined}>
            {value === null ? 'All' : value.toLowerCase()}
          </a>
        </li>
      ))}
    </ul>
  )
}

export interface PageAction {
  href: string
  label: string
  isSecondary?: boolean
}

/** The first action is the main one. @param more follows the actions, for example a menu of rarer actions */
export function PageHead(props: {
  title: ComponentChildren
  actions?: readonly PageAction[]
  more?: ComponentChildren
}) {
  const { title, actions = [], more } = props
  if (actions.length === 0 && !more) return <h1>{title}</h1>
  return (
    <div class="page-head">
      <h1>{title}</h1>
      <div class="row">
        {actions.map(({ href, label, isSecondary = false }, index) => (
          <a key={href} class={index === 0 && !isSecondary ? 'button primary' : 'button'} href={href}>
            {label}
          </a>
        ))}
        {more}
      </div>
    </div>
  )
}

/** A page that lists objects of one kind. */
export interface List<Row> extends TableProps<Row> {
  title: ComponentChildren
  label: string
  actions?: readonly PageAction[] | undefined
  /** in the head, after the actions */
  more?: ComponentChildren
  /** between the heading and the rows */
  intro?: ComponentChildren
  /** replaces a table without rows; text becomes a paragraph */
  empty: ComponentChildren
  /** absent if the list has one page */
  pages?: PageLinks
  path: string
  filters?: Filters
  /** wraps a table with rows */
  wrap?: (table: ComponentChildren) => ComponentChildren
  foot?: ComponentChildren
}

export function ListPage<Row>(props: List<Row>) {
  const { title, actions, more, intro, empty, pages, path, filters = {}, wrap, foot, ...table } = props
  const shown = <Table {...table} />
  return (
    <>
      <PageHead title={title} {...(actions && { actions })} more={more} />
      {intro}
      {table.rows.length > 0 ? (
        (wrap?.(shown) ?? shown)
      ) : typeof empty === 'string' ? (
        <p class="empty">{empty}</p>
      ) : (
        empty
      )}
      {pages && <Pager path={path} filters={filters} pages={pages} />}
      {foot}
    </>
  )
}
