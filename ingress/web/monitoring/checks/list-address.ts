import type { Context } from '../../shell/context.ts'

/** What of the address of a list filters and orders it; where one is in it, and what was said, is left out. */
const FILTERING = ['status', 'tag', 'q', 'sort'] as const

/** The address of this list with some parameters replaced; a change of filters leads to the first page. */
export function withQuery(context: Context, changes: Record<string, string | readonly string[] | null>): string {
  const query = new URLSearchParams(context.query)
  for (const name of ['after', 'before', 'from', 'done']) query.delete(name)
  for (const [name, value] of Object.entries(changes)) {
    query.delete(name)
    for (const one of value === null ? [] : typeof value === 'string' ? [value] : value) query.append(name, one)
  }
  const text = query.toString()
  return text === '' ? context.request.path : `${context.request.path}?${text}`
}

/** The filters and the order of an address, in one form; empty when it has none. */
export function listQueryOf(query: URLSearchParams): string {
  const kept = new URLSearchParams()
  for (const name of FILTERING) for (const value of query.getAll(name)) if (value !== '') kept.append(name, value)
  return kept.toString()
}
