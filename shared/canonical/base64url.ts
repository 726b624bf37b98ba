const TEXT = /^[A-Za-z0-9_-]+$/

/**
 * Returns whether a text is canonical base64url: its unused bits are zero, so no other text has the same bytes
 * (RFC 4648 section 3.5).
 */
export function isBase64url(text: string): boolean {
  return TEXT.test(text) && Buffer.from(text, 'base64url').toString('base64url') === text
}
