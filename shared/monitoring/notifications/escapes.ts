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

/** One line: what would end a header or a subject becomes a space. */
export function oneLine(text: string): string {
  return text.replace(/[\r\n\0\u2028\u2029]+/g, ' ')
}
