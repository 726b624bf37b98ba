import { createHash } from 'node:crypto'

/** Returns the beginning of the uuid for an unnamed check. */
export function nameOf(check: { name: string; uuid: string }): string {
  return check.name.trim() === '' ? `unnamed ${check.uuid.slice(0, 8)}` : check.name
}

/** Limit of names and slugs, in code points. */
export const MAX_NAME_LENGTH = 100

export function isSlug(text: string): boolean {
  return /^[a-z0-9_-]*$/.test(text)
}

/** Used by versions 1 and 2 of the API (docs/spec/monitoring.md#api-versions). The result may be empty. */
export function slugify(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/[^\t-\r -~]/g, '')
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .replace(/[-\s]+/g, '-')
    .replace(/^[-_]+|[-_]+$/g, '')
}

/** The uuid cannot be derived from it (docs/spec/monitoring.md#finding-the-check). */
export function uniqueKey(uuid: string): string {
  return createHash('sha1').update(uuid.replaceAll('-', '').slice(0, 16)).digest('hex')
}
