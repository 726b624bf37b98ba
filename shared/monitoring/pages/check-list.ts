import type { Micros } from '../../time.ts'
import type { ShownStatus } from '../checks/check.ts'
import { splitTags } from '../checks/tags.ts'

export const checkSorts = ['status', 'tag', 'name', 'last-ping', 'created'] as const
export type CheckSort = (typeof checkSorts)[number]

export interface CheckFilter {
  tags: readonly string[]
  /** part of a name, slug, tag or uuid, in any case */
  search: string
  status: ShownStatus | 'running' | null
  /** checks that send no alerts at the moment, for this reason */
  quiet: 'maintenance' | 'acknowledged' | null
}

/** An acknowledged incident of a check. */
export interface Acknowledgement {
  /** may be empty */
  by: string
  /** null: until the check is up */
  until: Micros | null
}

export type QuietCounts = Record<NonNullable<CheckFilter['quiet']>, number>

export interface ListCursor {
  group: string
  key: string | number
  id: number
}

const STATUSES: readonly string[] = ['up', 'grace', 'down', 'paused', 'new', 'running']

export function parseListQuery(query: URLSearchParams): {
  filter: CheckFilter
  sort: CheckSort
  /** last row of the previous page */
  after: ListCursor | null
  /** first row of the next page, for going back */
  before: ListCursor | null
} {
  const status = query.get('status') ?? ''
  const quiet = query.get('quiet')
  const sort = checkSorts.find((name) => name === query.get('sort')) ?? 'status'
  return {
    filter: {
      tags: [...new Set(query.getAll('tag').filter((tag) => tag !== '' && tag.isWellFormed()))].slice(0, 20),
      search: cleaned(query.get('q') ?? ''),
      status: isStatus(status) ? status : null,
      quiet: quiet === 'maintenance' || quiet === 'acknowledged' ? quiet : null,
    },
    sort,
    after: parseCursor(query.get('after'), sort),
    before: parseCursor(query.get('before'), sort),
  }
}

export function formatCursor(cursor: ListCursor): string {
  return Buffer.from(JSON.stringify([cursor.group, cursor.key, cursor.id])).toString('base64url')
}

/** Returns null unless formatCursor made the text for this order. */
function parseCursor(text: string | null, sort: CheckSort): ListCursor | null {
  if (text === null || text.length > 1000) return null
  try {
    const [group, key, id]: unknown[] = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    if (!isStorable(group) || typeof id !== 'number' || !Number.isSafeInteger(id)) return null
    if (sort === 'name' || sort === 'status' || sort === 'tag') return isStorable(key) ? { group, key, id } : null
    return typeof key === 'number' && Number.isSafeInteger(key) ? { group, key, id } : null
  } catch {
    return null
  }
}

function isStorable(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0')
}

function cleaned(text: string): string {
  return text.toWellFormed().replaceAll('\0', '').trim().slice(0, 100)
}

function isStatus(text: string): text is ShownStatus | 'running' {
  return STATUSES.includes(text)
}

interface TagCount {
  tag: string
  count: number
  down: number
}

export interface ListSummary {
  total: number
  found: number
  /** with all filters except that of the status; a running check counts under `running` and its status */
  statuses: ReadonlyMap<ShownStatus | 'running', number>
  /** with all filters, sorted by name; at most MAX_TAGS */
  tags: TagCount[]
}

export interface CheckGroup {
  tags: string
  status: ShownStatus
  isRunning: boolean
  isFound: boolean
  count: number
}

const MAX_TAGS = 200

/** A tag that a check has twice counts once. */
export function summarise(
  groups: readonly CheckGroup[],
  filter: Pick<CheckFilter, 'tags' | 'status'> = { tags: [], status: null },
): ListSummary {
  const statuses = new Map<ShownStatus | 'running', number>()
  const tags = new Map<string, TagCount>()
  const add = (status: ShownStatus | 'running', count: number) =>
    statuses.set(status, (statuses.get(status) ?? 0) + count)
  let [total, found] = [0, 0]
  for (const group of groups) {
    total += group.count
    const groupTags = new Set(splitTags(group.tags))
    if (!group.isFound || !filter.tags.every((tag) => groupTags.has(tag))) continue
    add(group.status, group.count)
    if (group.isRunning) add('running', group.count)
    if (filter.status !== null && filter.status !== group.status && !(filter.status === 'running' && group.isRunning))
      continue
    found += group.count
    for (const tag of groupTags) {
      const known = tags.get(tag) ?? { tag, count: 0, down: 0 }
      known.count += group.count
      if (group.status === 'down') known.down += group.count
      tags.set(tag, known)
    }
  }
  const sorted = [...tags.values()].toSorted((a, b) => (a.tag < b.tag ? -1 : 1))
  return { total, found, statuses, tags: sorted.slice(0, MAX_TAGS) }
}
