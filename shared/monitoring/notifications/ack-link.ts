import { createHash } from 'node:crypto'

const TOKEN_BYTES = 16

export interface AckLink {
  path: string
  /** stored for the lookup, so that the database contains no link that works */
  digest: Buffer
}

/**
 * Returns the link of a notification, by which its recipient acknowledges without signing in. Each attempt has the
 * same link. @param digestOf the keyed digest of a text
 */
export function ackLinkOf(notificationId: string, digestOf: (text: string) => Buffer): AckLink {
  const token = digestOf(`ack:${notificationId}`).subarray(0, TOKEN_BYTES).toString('base64url')
  return { path: `/a/${token}`, digest: linkDigest(token) }
}

export function isLinkToken(text: string): boolean {
  return /^[\w-]{22}$/.test(text)
}

export function linkDigest(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
