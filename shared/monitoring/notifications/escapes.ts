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
