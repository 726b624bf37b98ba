/** How long a name and a slug may be, in code points. */
export const MAX_NAME_LENGTH = 100

/** Whether the text is `a-z 0-9 - _` throughout; the empty text is. */
export function isSlug(text: string): boolean {
  return /^[a-z0-9_-]*$/.test(text)
}

/**
 * The slug that versions 1 and 2 of the API make from a name: accents fall off their letters, what is not ASCII is
 * dropped, runs of white space and hyphens become one hyphen (docs/spec/monitoring.md#api-versions). May be empty.
 */
export function slugify(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/[^\t-\r -~]/g, '')
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .replace(/[-\s]+/g, '-')
    .replace(/^[-_]+|[-_]+$/g, '')
}
