import { createHmac, timingSafeEqual } from 'node:crypto'

/** The tag that stands for all checks of a project. */
export const ALL_TAGS = '*'

/** Two states count a late check as up. */
export type BadgeStates = 2 | 3

const LENGTH = 8

/** Signs the badge URL of a tag, so that it cannot be guessed: 8 URL-safe characters (docs/spec/monitoring.md#badges). */
export function badgeSignature(secret: string | Uint8Array, badgeKey: string, tag: string): string {
  // The badge key is a uuid, so a line feed cannot be part of it and the pair cannot be read in two ways.
  return createHmac('sha256', secret).update(`badge\n${badgeKey}\n${tag}`).digest('base64url').slice(0, LENGTH)
}

/**
 * Checks the signature part of a badge URL. Only its first 8 characters are verified; exactly `-2` after them selects
 * two states, anything else three.
 * @returns null when it does not belong to the badge
 */
export function verifyBadgeSignature(
  secret: string | Uint8Array,
  badgeKey: string,
  tag: string,
  signature: string,
): BadgeStates | null {
  const given = Buffer.from(signature.slice(0, LENGTH))
  const expected = Buffer.from(badgeSignature(secret, badgeKey, tag))
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null
  return signature.length === LENGTH + 2 && signature.endsWith('-2') ? 2 : 3
}

/**
 * Which tag a badge URL is about. Tags are percent-encoded twice, and `tag` has been decoded once; clients that
 * encode it once are served as well.
 * @returns null when the signature fits neither reading, and for `*`, which has a form of its own
 */
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

/** The addresses of one tag's badges, as the badges list names them. */
export interface BadgeUrls {
  svg: string
  svg3: string
  json: string
  json3: string
  shields: string
  shields3: string
}

/**
 * The badges of a tag, or of the whole project for `*`; names that end in 3 show three states. A tag is
 * percent-encoded twice (docs/spec/monitoring.md#badges).
 */
export function badgeUrls(base: string, secret: string | Uint8Array, badgeKey: string, tag: string): BadgeUrls {
  const signed = `${base}/badge/${badgeKey}/${badgeSignature(secret, badgeKey, tag)}`
  const rest = tag === ALL_TAGS ? '' : `/${encodeURIComponent(encodeURIComponent(tag))}`
  const url = (states: '' | '-2', format: string) => `${signed}${states}${rest}.${format}`
  return {
    svg: url('-2', 'svg'),
    svg3: url('', 'svg'),
    json: url('-2', 'json'),
    json3: url('', 'json'),
    shields: url('-2', 'shields'),
    shields3: url('', 'shields'),
  }
}

/** The badges list as JSON, in the texts that it consists of: every tag in use, and always `*`. */
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
