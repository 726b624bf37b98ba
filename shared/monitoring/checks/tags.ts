/**
 * The tags of a check: split at the space character alone, each piece trimmed, empty ones dropped. Commas do not
 * separate; repeated tags stay (docs/spec/monitoring.md#check-operations).
 */
export function splitTags(text: string): string[] {
  return text
    .split(' ')
    .map((piece) => piece.trim())
    .filter((tag) => tag !== '')
}

/** Whether the tags contain every wanted one: whole tags, case-sensitive. An empty wanted tag matches nothing. */
export function hasAllTags(text: string, wanted: readonly string[]): boolean {
  if (wanted.length === 0) return true
  const tags = new Set(splitTags(text))
  return wanted.every((tag) => tags.has(tag))
}

/** Every tag in use, once, sorted. */
export function distinctTags(checks: Iterable<{ tags: string }>): string[] {
  const tags = new Set<string>()
  for (const check of checks) for (const tag of splitTags(check.tags)) tags.add(tag)
  return [...tags].toSorted()
}
