import { createHash } from 'node:crypto'

/** What people know a check by: its name, else the beginning of its uuid. */
export function nameOf(check: { name: string; uuid: string }): string {
  return check.name.trim() === '' ? `unnamed ${check.uuid.slice(0, 8)}` : check.name
}

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

/**
 * The name of a check for holders of a read-only key: SHA-1, in hex, of the first half of its uuid, which cannot be
 * turned back into the uuid (docs/spec/monitoring.md#finding-the-check). An identifier, not a signature.
 */
export function uniqueKey(uuid: string): string {
  return createHash('sha1').update(uuid.replaceAll('-', '').slice(0, 16)).digest('hex')
}
