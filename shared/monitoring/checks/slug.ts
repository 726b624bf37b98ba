import { createHash } from 'node:crypto'

/** Returns the name of a check; for an unnamed check, a text with the beginning of its uuid. */
export function nameOf(check: { name: string; uuid: string }): string {
  return check.name.trim() === '' ? `unnamed ${check.uuid.slice(0, 8)}` : check.name
}

/** Limit of names and slugs, in code points. */
export const MAX_NAME_LENGTH = 100

/** Returns true if the text contains only `a-z 0-9 - _`, or is empty. */
export function isSlug(text: string): boolean {
  return /^[a-z0-9_-]*$/.test(text)
}

/**
 * Returns the slug that versions 1 and 2 of the API derive from a name (docs/spec/monitoring.md#api-versions). Removes
 * accents and non-ASCII characters, and replaces runs of white space and hyphens by one hyphen. The result may be empty.
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

/**
 * Returns the identifier of a check for read-only keys: the SHA-1, in hex, of the first half of its uuid
 * (docs/spec/monitoring.md#finding-the-check). The uuid cannot be derived from it.
 */
export function uniqueKey(uuid: string): string {
  return createHash('sha1').update(uuid.replaceAll('-', '').slice(0, 16)).digest('hex')
}
