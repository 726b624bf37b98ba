const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Changes the lowest unused bit of the last character. The bytes stay the same. */
export function respell(text: string): string {
  const changed = text.slice(0, -1) + ALPHABET[ALPHABET.indexOf(text.at(-1) ?? '') ^ 1]
  if (!Buffer.from(changed, 'base64url').equals(Buffer.from(text, 'base64url'))) throw new Error('no bit is unused')
  return changed
}

/** Changes the spelling of the last part of a compact JWS or JWE. */
export function respellSignature(jwt: string): string {
  const at = jwt.lastIndexOf('.') + 1
  return jwt.slice(0, at) + respell(jwt.slice(at))
}
