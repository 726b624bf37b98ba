import { createHmac, timingSafeEqual } from 'node:crypto'

export const ALL_TAGS = '*'

/** With two states, a late check counts as up. */
export type BadgeStates = 2 | 3

const LENGTH = 8

/** Returns 8 URL-safe characters, so that badge URLs cannot be guessed (docs/spec/monitoring.md#badges). */
export function badgeSignature(secret: string | Uint8Array, badgeKey: string, tag: string): string {
  // The badge key is a uuid without line feeds, so the signed text is unambiguous.
  return createHmac('sha256', secret).update(`badge\n${badgeKey}\n${tag}`).digest('base64url').slice(0, LENGTH)
}

/** A suffix of exactly `-2` selects two states, anything else three. Returns null if the signature is wrong. */
export function verifyBadgeSignature(
  secret: string | Uint8Array,
  badgeKey: string,
  tag: string,
  signature: string,
): BadgeStates | null {
  const actual = Buffer.from(signature.slice(0, LENGTH))
  const expected = Buffer.from(badgeSignature(secret, badgeKey, tag))
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) return null
  return signature.length === LENGTH + 2 && signature.endsWith('-2') ? 2 : 3
}

/** `tag` has been decoded once of two encodings; one encoding works too. Null without a match, and for `*`. */
export function resolveBadgeTag(
  secret: string | Uint8Array,
  badgeKey: string,
  tag: string,
  signature: string,
): { tag: string; states: BadgeStates } | null {
  for (const reading of new Set([tag, decodeOnce(tag)])) {
    const states = reading === ALL_TAGS ? null : verifyBadgeSignature(secret, badgeKey, reading, signature)
    if (states !== null) return { tag: reading, states }
  }
  return null
}

function decodeOnce(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export interface BadgeUrls {
  svg: string
  svg3: string
  json: string
  json3: string
  shields: string
  shields3: string
}

/** Names with a final 3 show three states; a tag is percent-encoded twice (docs/spec/monitoring.md#badges). */
export function badgeUrls(base: string, secret: string | Uint8Array, badgeKey: string, tag: string): BadgeUrls {
  const signed = `${base}/badge/${badgeKey}/${badgeSignature(secret, badgeKey, tag)}`
  const rest = tag === ALL_TAGS ? '' : `/${encodeURIComponent(encodeURIComponent(tag))}`
  return urlsOf((states, format) => `${signed}${states === 2 ? '-2' : ''}${rest}.${format}`)
}

export function checkBadgeUrls(base: string, badgeKey: string): BadgeUrls {
  return urlsOf((states, format) => `${base}/b/${states}/${badgeKey}.${format}`)
}

function urlsOf(url: (states: BadgeStates, format: string) => string): BadgeUrls {
  return {
    svg: url(2, 'svg'),
    svg3: url(3, 'svg'),
    json: url(2, 'json'),
    json3: url(3, 'json'),
    shields: url(2, 'shields'),
    shields3: url(3, 'shields'),
  }
}

export function* badgeListTexts(
  base: string,
  secret: string | Uint8Array,
  badgeKey: string,
  tags: Iterable<string>,
): Generator<string> {
  yield '{"badges":{'
  let separator = ''
  for (const tag of new Set([...tags, ALL_TAGS])) {
    yield `${separator}${JSON.stringify(tag)}:${JSON.stringify(badgeUrls(base, secret, badgeKey, tag))}`
    separator = ','
  }
  yield '}}'
}
