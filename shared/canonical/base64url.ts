const TEXT = /^[A-Za-z0-9_-]+$/

/** Returns true for canonical base64url, whose unused bits are zero (RFC 4648 section 3.5). */
export function isBase64url(text: string): boolean {
  return TEXT.test(text) && Buffer.from(text, 'base64url').toString('base64url') === text
}
