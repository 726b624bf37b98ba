import { domainToASCII } from 'node:url'
import type { SignalKind } from '../../contracts/signal-kind.ts'

/** The caller refuses an `exitStatus` above 255 (docs/spec/monitoring.md#ping-responses). */
export type PingUrl =
  | { form: 'uuid'; uuid: string; kind: SignalKind; exitStatus: number | null }
  | { form: 'slug'; pingKey: string; slug: string; kind: SignalKind; exitStatus: number | null }
  /** the path matches no form: 404 */
  | { form: 'none' }
  /** the slug has an upper-case letter: 400 `invalid url format`, before any lookup */
  | { form: 'bad-slug' }

export const MAX_EXIT_STATUS = 255

/** Parses the percent-encoded path after `/ping/`, without its query (docs/spec/monitoring.md#ping-urls). */
export function parsePingPath(path: string): PingUrl {
  const text = path.includes('%') ? percentDecoded(path) : path
  if (text === null) return NONE
  if (startsWithUuid(text)) {
    const uuid = text.slice(0, UUID_LENGTH)
    if (text.length === UUID_LENGTH) return { form: 'uuid', uuid, kind: 'success', exitStatus: null }
    if (text.charCodeAt(UUID_LENGTH) === SLASH) {
      // Only this form tolerates a trailing slash.
      if (text.length === UUID_LENGTH + 1) return { form: 'uuid', uuid, kind: 'success', exitStatus: null }
      const action = parseAction(text.slice(UUID_LENGTH + 1))
      if (action) return { form: 'uuid', uuid, kind: action.kind, exitStatus: action.exitStatus }
    }
  }
  return parseSlugForm(text)
}

/** Parsed after the uuid forms, so `<uuid>/bogus` is a ping key and a slug. */
function parseSlugForm(text: string): PingUrl {
  const first = text.indexOf('/')
  if (first < 1) return NONE
  const second = text.indexOf('/', first + 1)
  const pingKey = text.slice(0, first)
  const slug = second === -1 ? text.slice(first + 1) : text.slice(first + 1, second)
  const action = second === -1 ? SUCCESS : parseAction(text.slice(second + 1))
  if (!action || !isWord(pingKey) || !isWord(slug)) return NONE
  if (hasUpperCase(slug)) return BAD_SLUG
  return { form: 'slug', pingKey, slug, kind: action.kind, exitStatus: action.exitStatus }
}

interface Action {
  kind: SignalKind
  exitStatus: number | null
}

function parseAction(text: string): Action | null {
  if (text === 'start') return START
  if (text === 'fail') return FAIL
  if (text === 'log') return LOG
  if (!isDigits(text)) return null
  const exitStatus = Number(text)
  return { kind: exitStatus === 0 ? 'success' : 'fail', exitStatus }
}

/** The query of a ping URL. `rid` is undefined if absent, null if it is not a uuid: 400 `invalid uuid format`. */
export interface PingQuery {
  rid: string | null | undefined
  create: boolean
  source: string | null
}

/** Parses the query of a ping URL; the last of equal parameters counts (docs/spec/monitoring.md#ping-urls). */
export function parsePingQuery(query: string): PingQuery {
  if (query === '') return NO_QUERY
  const parameters = new URLSearchParams(query)
  const rid = parameters.getAll('rid').at(-1)
  return {
    rid: rid === undefined ? undefined : parseRid(rid),
    create: parameters.getAll('create').at(-1) === '1',
    source: parameters.getAll('source').at(-1) ?? null,
  }
}

/** Returns null unless the text is 8-4-4-4-12 hex digits with dashes. */
function parseRid(text: string): string | null {
  const lower = text.toLowerCase()
  return lower.length === UUID_LENGTH && text.length === UUID_LENGTH && startsWithUuid(lower) ? lower : null
}

function startsWithUuid(text: string): boolean {
  if (text.length < UUID_LENGTH) return false
  for (let i = 0; i < UUID_LENGTH; i++) {
    const code = text.charCodeAt(i)
    const isDash = i === 8 || i === 13 || i === 18 || i === 23
    if (isDash ? code !== DASH : !((code >= DIGIT_0 && code <= DIGIT_9) || (code >= LOWER_A && code <= LOWER_F))) {
      return false
    }
  }
  return true
}

function isWord(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const isLetter = (code >= LOWER_A && code <= LOWER_Z) || (code >= UPPER_A && code <= UPPER_Z)
    const isOther = (code >= DIGIT_0 && code <= DIGIT_9) || code === DASH || code === UNDERSCORE
    if (!isLetter && !isOther) return false
  }
  return text !== ''
}

function hasUpperCase(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= UPPER_A && code <= UPPER_Z) return true
  }
  return false
}

function isDigits(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < DIGIT_0 || code > DIGIT_9) return false
  }
  return text !== ''
}

function percentDecoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

const UUID_LENGTH = 36
const [SLASH, DASH, UNDERSCORE] = [0x2f, 0x2d, 0x5f]
const [DIGIT_0, DIGIT_9] = [0x30, 0x39]
const [UPPER_A, UPPER_Z] = [0x41, 0x5a]
const [LOWER_A, LOWER_F, LOWER_Z] = [0x61, 0x66, 0x7a]
const SUCCESS: Action = { kind: 'success', exitStatus: null }
const START: Action = { kind: 'start', exitStatus: null }
const FAIL: Action = { kind: 'fail', exitStatus: null }
const LOG: Action = { kind: 'log', exitStatus: null }
const NONE: PingUrl = { form: 'none' }
const BAD_SLUG: PingUrl = { form: 'bad-slug' }
const NO_QUERY: PingQuery = Object.freeze({ rid: undefined, create: false, source: null })

/** User agents of programs that show link previews contain these. */
const PREVIEWERS =
  /Slackbot|Slack-ImgProxy|Discordbot|TelegramBot|WhatsApp|facebookexternalhit|Facebot|Twitterbot|LinkedInBot|SkypeUriPreview|MicrosoftPreview|Microsoft Teams|Google-PageRenderer|Google-Safety|GoogleImageProxy|Mattermost-Bot|Rocket\.Chat|Matrix|Synapse|Iframely|Embedly|redditbot|Pinterestbot|vkShare|Viber|Snapchat|BingPreview|Applebot/i

/** A chat or mail program may show a preview of a link. */
export function isPreview(method: string, userAgent: string): boolean {
  return (method === 'GET' || method === 'HEAD') && PREVIEWERS.test(userAgent)
}

export type MailTarget = { form: 'uuid'; uuid: string } | { form: 'slug'; pingKey: string; slug: string }

const UUID_4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i
const KEY_AND_SLUG = /^([A-Za-z0-9_-]{1,64})\+([A-Za-z0-9_-]+)$/

/**
 * Compares the domain first, case-insensitively, in both spellings of international names
 * (docs/spec/monitoring.md#email-pings). Returns `foreign` for another domain, `invalid` for a mailbox that names no
 * check.
 */
export function parseMailAddress(address: string, pingDomain: string): MailTarget | 'foreign' | 'invalid' {
  const at = address.lastIndexOf('@')
  if (at === -1 || comparable(address.slice(at + 1)) !== comparable(pingDomain)) return 'foreign'
  const mailbox = address.slice(0, at)
  if (UUID_4.test(mailbox)) return { form: 'uuid', uuid: mailbox.toLowerCase() }
  const [, pingKey, slug] = KEY_AND_SLUG.exec(mailbox) ?? []
  return pingKey === undefined || slug === undefined ? 'invalid' : { form: 'slug', pingKey, slug: slug.toLowerCase() }
}

/** An address literal, for example `[127.0.0.1]`, has no ASCII form. */
function comparable(domain: string): string {
  return domainToASCII(domain) || domain.toLowerCase()
}
