/**
 * The bytes with stars for the secrets in them, in any case; as many as there were. A mail says whom it is to: an
 * address that takes pings, which is not for whoever may only look.
 * @param secrets of letters, digits, hyphens and underscores
 */
export function maskBytes(bytes: Buffer, secrets: readonly string[]): Buffer {
  return secrets.length === 0 ? bytes : Buffer.from(maskText(bytes.toString('latin1'), secrets), 'latin1')
}

/** As `maskBytes`, for bytes that come in pieces: a secret may lie across their borders. */
export async function* maskPieces(
  pieces: AsyncIterable<Buffer>,
  secrets: readonly string[],
): AsyncGenerator<Buffer, void, undefined> {
  const kept = Math.max(0, ...secrets.map(({ length }) => length - 1))
  let text = ''
  for await (const piece of pieces) {
    text = maskText(text + piece.toString('latin1'), secrets)
    const end = Math.max(0, text.length - kept)
    yield Buffer.from(text.slice(0, end), 'latin1')
    text = text.slice(end)
  }
  yield Buffer.from(text, 'latin1')
}

/** As `maskBytes`, for text: what was encoded in the bytes may hold them too. */
export function maskText(text: string, secrets: readonly string[]): string {
  return secrets.length === 0
    ? text
    : text.replaceAll(new RegExp(secrets.join('|'), 'gi'), (secret) => '*'.repeat(secret.length))
}
