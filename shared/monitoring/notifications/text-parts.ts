import { escapeHtml } from '../../html.ts'
import { type Micros, toMillis, toSeconds } from '../../time.ts'

/** `2 days, 1 hour`, `5 minutes, 0 seconds` (docs/spec/monitoring.md#webhooks); fractions are cut. */
export function formatDuration(length: Micros): string {
  const seconds = Math.max(0, Math.floor(toSeconds(length)))
  if (seconds >= 86_400) return `${count(seconds / 86_400, 'day')}, ${count((seconds % 86_400) / 3600, 'hour')}`
  if (seconds >= 3600) return `${count(seconds / 3600, 'hour')}, ${count((seconds % 3600) / 60, 'minute')}`
  if (seconds >= 60) return `${count(seconds / 60, 'minute')}, ${count(seconds % 60, 'second')}`
  return count(seconds, 'second')
}

/** Formats an instant in a time zone: `31 Jan 2026, 11:00:00 GMT+1`. */
export function formatInstant(at: Micros, timeZone: string): string {
  return new Intl.DateTimeFormat('en-GB', {
    timeZone,
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
  }).format(toMillis(at))
}

export function formatPeriod(seconds: number): string {
  const parts: [number, string][] = [
    [Math.floor(seconds / 604_800), 'week'],
    [Math.floor((seconds % 604_800) / 86_400), 'day'],
    [Math.floor((seconds % 86_400) / 3600), 'hour'],
    [Math.floor((seconds % 3600) / 60), 'minute'],
    [Math.floor(seconds % 60), 'second'],
  ]
  const shown = parts.filter(([amount]) => amount > 0)
  return shown.length === 0 ? '0 seconds' : shown.map(([amount, unit]) => count(amount, unit)).join(' ')
}

function count(amount: number, unit: string): string {
  const whole = Math.floor(amount)
  return `${whole} ${unit}${whole === 1 ? '' : 's'}`
}

export interface NamedList {
  before: string
  /** the most important first; may be fewer than `size` */
  names: readonly string[]
  size: number
  after: string
}

const MAX_NAMED = 50

export function namedList({ names, ...rest }: NamedList): NamedList {
  return { ...rest, names: names.slice(0, MAX_NAMED).map(shortName) }
}

/** `a, b and 3 more: <link>`; null if a link is useless, for example in a phone call */
export function listText({ before, names, size, after }: NamedList, link: string | null): string {
  const more = size - names.length
  const at = link === null ? '' : `: ${link}`
  if (names.length === 0) return `${before}see all ${size}${at}${after}`
  return `${before}${names.join(', ')}${more > 0 ? ` and ${more} more${at}` : ''}${after}`
}

/** Null if the list has the address of the acknowledge link, which the message shows anyway. */
export function listLinkOf({ link, ackUrl }: { link: string; ackUrl?: string }): string | null {
  return link === ackUrl ? null : link
}

export interface Fact {
  label: string
  value: string
}

/** Escapes text for CommonMark, so that it contains no formatting, links or mentions. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+\-.!|<>~@]/g, '\\$&')
}

/** Keeps characters that are special only at the beginning of a line, because some services show the backslash. */
export function escapeInlineMarkdown(text: string): string {
  return text.replace(/[\\`*_~[\]()<>@#|]/g, '\\$&')
}

export function escapeSlack(text: string): string {
  return text.replace(/[&<>]/g, escapeHtml)
}

/** The fence is longer than every fence in the content. */
export function codeBlock(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}

const MAX_SHOWN_NAME = 100

export function shortName(name: string): string {
  const chars = [...oneLine(name)]
  return chars.length <= MAX_SHOWN_NAME ? chars.join('') : `${chars.slice(0, MAX_SHOWN_NAME - 1).join('')}…`
}

/** Line breaks could end a header or subject. */
export function oneLine(text: string): string {
  return text.replace(/[\r\n\0\u2028\u2029]+/g, ' ')
}
