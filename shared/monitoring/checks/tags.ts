import { ValidationError } from '../../errors.ts'

/** Commas do not separate, and repeated tags stay (docs/spec/monitoring.md#check-operations). */
export function splitTags(text: string): string[] {
  return text
    .split(' ')
    .map((piece) => piece.trim())
    .filter((tag) => tag !== '')
}

/** Case-sensitive. An empty wanted tag matches nothing. */
export function hasAllTags(text: string, wanted: readonly string[]): boolean {
  if (wanted.length === 0) return true
  const tags = new Set(splitTags(text))
  return wanted.every((tag) => tags.has(tag))
}

export function distinctTags(checks: Iterable<{ tags: string }>): string[] {
  const tags = new Set<string>()
  for (const check of checks) for (const tag of splitTags(check.tags)) tags.add(tag)
  return [...tags].toSorted()
}

const MAX_PROJECT_TAGS = 1_000

/** A project above the limit may keep its tags. @throws ValidationError if the change adds one beyond the limit */
export function requireTagCapacity(before: Iterable<string>, after: Iterable<string>): void {
  const had = tagsOf(before)
  const has = tagsOf(after)
  if (has.size <= MAX_PROJECT_TAGS || [...has].every((tag) => had.has(tag))) return
  const message = `tags would give the project more than ${MAX_PROJECT_TAGS} different tags`
  throw new ValidationError(`json validation error: ${message}`, [{ path: 'tags', code: 'TOO_MANY', message }])
}

function tagsOf(texts: Iterable<string>): Set<string> {
  const tags = new Set<string>()
  for (const text of texts) for (const tag of splitTags(text)) tags.add(tag)
  return tags
}
