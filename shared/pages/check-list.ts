import type { ShownStatus } from '../checks/check.ts'

export const checkSorts = ['name', 'status', 'last-ping', 'created'] as const
export type CheckSort = (typeof checkSorts)[number]

/** Which checks are listed: all conditions must hold. */
export interface CheckFilter {
  /** whole tags, all of them */
  tags: readonly string[]
  /** part of a name, slug, tag or uuid, whatever its case */
  search: string
  status: ShownStatus | 'running' | null
}

/** The last row of the page before. */
export interface ListCursor {
  key: string | number
  id: number
}

const STATUSES: readonly string[] = ['up', 'grace', 'down', 'paused', 'new', 'running']

/** Reads the address of a list; what makes no sense is as if it were not there. */
export function parseListQuery(query: URLSearchParams): {
  filter: CheckFilter
  sort: CheckSort
  after: ListCursor | null
} {
  const status = query.get('status') ?? ''
  const sort = checkSorts.find((name) => name === query.get('sort')) ?? 'name'
  return {
    filter: {
      tags: [...new Set(query.getAll('tag').filter((tag) => tag !== '' && tag.isWellFormed()))].slice(0, 20),
      search: cleaned(query.get('q') ?? ''),
      status: isStatus(status) ? status : null,
    },
    sort,
    after: parseCursor(query.get('after'), sort),
  }
}

export function formatCursor(cursor: ListCursor): string {
  return Buffer.from(JSON.stringify([cursor.key, cursor.id])).toString('base64url')
}

/** @returns null for anything that formatCursor did not make for this order */
function parseCursor(text: string | null, sort: CheckSort): ListCursor | null {
  if (text === null || text.length > 1000) return null
  try {
    const [key, id]: unknown[] = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    if (typeof id !== 'number' || !Number.isSafeInteger(id)) return null
    if (sort === 'name') return typeof key === 'string' && !key.includes('\0') ? { key, id } : null
    return typeof key === 'number' && Number.isSafeInteger(key) ? { key, id } : null
  } catch {
    return null
  }
}

function cleaned(text: string): string {
  return text.toWellFormed().replaceAll('\0', '').trim().slice(0, 100)
}

function isStatus(text: string): text is ShownStatus | 'running' {
  return STATUSES.includes(text)
}
