import { type Micros, toSeconds } from '../../time.ts'

/**
 * A length in the two largest units that fit: `2 days, 1 hour`, `1 hour, 30 minutes`, `5 minutes, 0 seconds`,
 * `45 seconds` (docs/spec/monitoring.md#webhooks). Fractions of a second are cut.
 */
export function formatDuration(length: Micros): string {
  const seconds = Math.max(0, Math.floor(toSeconds(length)))
  if (seconds >= 86_400) return `${count(seconds / 86_400, 'day')}, ${count((seconds % 86_400) / 3600, 'hour')}`
  if (seconds >= 3600) return `${count(seconds / 3600, 'hour')}, ${count((seconds % 3600) / 60, 'minute')}`
  if (seconds >= 60) return `${count(seconds / 60, 'minute')}, ${count(seconds % 60, 'second')}`
  return count(seconds, 'second')
}

/** A period or grace time as people set it: `1 day`, `1 hour 30 minutes`; units that are zero are left out. */
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

/** A list of checks in a message, with the text around it. */
export interface NamedList {
  before: string
  /** the most important first; may be fewer than `size` */
  names: readonly string[]
  size: number
  after: string
}

/** Names that one message lists at most. */
const MAX_NAMED = 50

export function namedList({ names, ...rest }: NamedList): NamedList {
  return { ...rest, names: names.slice(0, MAX_NAMED).map(shortName) }
}

/** `a, b and 3 more: <link>`. @param link null where a link is of no use, as in speech */
export function listText({ before, names, size, after }: NamedList, link: string | null): string {
  const more = size - names.length
  const at = link === null ? '' : `: ${link}`
  if (names.length === 0) return `${before}see all ${size}${at}${after}`
  return `${before}${names.join(', ')}${more > 0 ? ` and ${more} more${at}` : ''}${after}`
}

/** A line of a message: what it is, and its value; one without a value is left out. */
export interface Fact {
  label: string
  value: string
}

const htmlCharacters: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Text for an HTML or XML element or attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => htmlCharacters[char] ?? char)
}

/** Text for CommonMark and its relatives: nothing in it formats, links or mentions. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+\-.!|<>~@]/g, '\\$&')
}

/**
 * Text within a line for chat services that read Markdown: nothing in it formats, links or mentions. Marks that mean
 * something only where a line begins stay, since not every service takes the backslash before them away.
 */
export function escapeInlineMarkdown(text: string): string {
  return text.replace(/[\\`*_~[\]()<>@#|]/g, '\\$&')
}

/** Text for Slack's own format, where only three characters are special. */
export function escapeSlack(text: string): string {
  return text.replace(/[&<>]/g, (char) => htmlCharacters[char] ?? char)
}

/** A fenced code block that its content cannot end. */
export function codeBlock(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}

/** Longest name that messages show, in code points; a check that was made before the limit may have a longer one. */
const MAX_SHOWN_NAME = 100

/** A name as messages show it, on one line. */
export function shortName(name: string): string {
  const chars = [...oneLine(name)]
  return chars.length <= MAX_SHOWN_NAME ? chars.join('') : `${chars.slice(0, MAX_SHOWN_NAME - 1).join('')}…`
}

/** One line: what would end a header or a subject becomes a space. */
export function oneLine(text: string): string {
  return text.replace(/[\r\n\0\u2028\u2029]+/g, ' ')
}
