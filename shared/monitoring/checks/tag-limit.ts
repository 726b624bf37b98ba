import { ValidationError } from '../../errors.ts'
import { splitTags } from './tags.ts'

/** Distinct tags of a project: lists and pages show each of them. */
const MAX_PROJECT_TAGS = 1_000

/**
 * Compares the tags of a project before and after a change. A project that has more than the limit already may keep them.
 * @param before texts of tags, as `after`
 * @throws ValidationError when the change adds a tag beyond the limit
 */
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
