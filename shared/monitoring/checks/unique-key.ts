import { createHash } from 'node:crypto'

/**
 * The name of a check for holders of a read-only key: SHA-1, in hex, of the first half of its uuid, which cannot be
 * turned back into the uuid (docs/spec/monitoring.md#finding-the-check). An identifier, not a signature.
 */
export function uniqueKey(uuid: string): string {
  return createHash('sha1').update(uuid.replaceAll('-', '').slice(0, 16)).digest('hex')
}
