import { shortName } from './escapes.ts'

/** A list of checks in a message, with the text around it. */
export interface NamedList {
  before: string
  /** the most important first; may be fewer than `size` */
  names: readonly string[]
  size: number
  after: string
}

/** Names that one message lists at most. */
const MAX_NAMED = 50

export function namedList({ names, ...rest }: NamedList): NamedList {
  return { ...rest, names: names.slice(0, MAX_NAMED).map(shortName) }
}

/** `a, b and 3 more: <link>`. @param link null where a link is of no use, as in speech */
export function listText({ before, names, size, after }: NamedList, link: string | null): string {
  const more = size - names.length
  const at = link === null ? '' : `: ${link}`
  if (names.length === 0) return `${before}see all ${size}${at}${after}`
  return `${before}${names.join(', ')}${more > 0 ? ` and ${more} more${at}` : ''}${after}`
}
