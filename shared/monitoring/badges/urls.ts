import { ALL_TAGS, badgeSignature } from './signature.ts'

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
