import { createHash } from 'node:crypto'

/**
 * The name of a check for holders of a read-only key: SHA-1, in hex, of the first half of its uuid, which cannot be
 * turned back into the uuid (monitoring behaviour 5.3). An identifier, not a signature.
 */
export function uniqueKey(uuid: string): string {
  return createHash('sha1').update(uuid.replaceAll('-', '').slice(0, 16)).digest('hex')
}
