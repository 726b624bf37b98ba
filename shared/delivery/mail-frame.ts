import { escapeHtml } from '../html.ts'

/** Content of a mail. Text and HTML are both rendered from it, so they always have the same content. */
export interface MailContent {
  siteName: string
  headline: string
  tone: MailTone
  sections: readonly MailSection[]
  unsubscribe: string | null
}

type MailTone = 'down' | 'up' | 'neutral'

export type MailSection =
  | { kind: 'text'; text: string; isSmall?: true }
  /** the first one is the main action */
  | { kind: 'buttons'; buttons: readonly { label: string; url: string }[] }
  | { kind: 'facts'; facts: readonly { label: string; value: string }[] }
  | { kind: 'list'; title: string; lines: readonly { text: string; url?: string }[] }
  /** output of a program, shown as it is */
  | { kind: 'quote'; title: string; text: string }

/** Returns both alternatives of a mail. Sections without content are omitted. */
export function renderMail(content: MailContent): { text: string; html: string } {
  const sections = content.sections.filter(hasContent)
  return { text: textOf(content, sections), html: htmlOf(content, sections) }
}

/** Headers for one-click unsubscription (RFC 8058). */
export function unsubscribeHeaders(url: string | null): Record<string, string> {
  if (url === null) return {}
  return { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
}

function hasContent(section: MailSection): boolean {
  if (section.kind === 'facts') return section.facts.length > 0
  if (section.kind === 'list') return section.lines.length > 0
  return section.kind === 'buttons' ? section.buttons.length > 0 : section.text !== ''
}

function textOf(content: MailContent, sections: readonly MailSection[]): string {
  const foot = `--\n${content.siteName}${content.unsubscribe ? `\nUnsubscribe: ${content.unsubscribe}` : ''}`
  return `${[content.headline, ...sections.map(sectionText), foot].join('\n\n')}\n`
}

function sectionText(section: MailSection): string {
  switch (section.kind) {
    case 'text':
      return section.text
    case 'buttons':
      return section.buttons.map(({ label, url }) => `${label}:\n${url}`).join('\n\n')
    case 'facts':
      return section.facts.map(({ label, value }) => `${label}: ${value}`).join('\n')
    case 'list': {
      const lines = section.lines.map(({ text, url }) => `- ${text}${url === undefined ? '' : `\n  ${url}`}`)
      return [section.title && `${section.title}:`, ...lines].filter((line) => line !== '').join('\n')
    }
    case 'quote':
      return `${section.title}:\n${section.text}`
  }
}

const FONT = 'font-family:-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif;font-size:15px;line-height:1.5'
/** Each colour has a contrast of at least 4.5:1 with its background, in both themes. */
const LIGHT = { page: '#f3f4f6', card: '#ffffff', text: '#1b1f24', soft: '#565d66', line: '#d8dce1', quote: '#f3f4f6' }
const DARK = { page: '#101316', card: '#1a1e23', text: '#e8eaed', soft: '#a9b0b9', line: '#343a42', quote: '#101316' }
const TONES = {
  down: { colour: '#b3261e', symbol: '&#10005;' },
  up: { colour: '#1d7a4f', symbol: '&#10003;' },
  neutral: { colour: '#47618f', symbol: '&#8226;' },
} as const

/** Programs that ignore a style sheet use the inline styles of the light theme. */
const DARK_SHEET = `@media (prefers-color-scheme: dark){
.page{background:${DARK.page}!important}.card{background:${DARK.card}!important;border-color:${DARK.line}!important}
.text,.text a{color:${DARK.text}!important}.soft,.soft a{color:${DARK.soft}!important}
.quote{background:${DARK.quote}!important;border-color:${DARK.line}!important}.second{border-color:${DARK.soft}!important}
}`

/** Uses one column and tables, because mail programs ignore most other layout. */
function htmlOf(content: MailContent, sections: readonly MailSection[]): string {
  const { colour, symbol } = TONES[content.tone]
  const site = escapeHtml(content.siteName)
  const unsubscribe = content.unsubscribe
    ? ` · <a href="${escapeHtml(content.unsubscribe)}" style="color:${LIGHT.soft}">Unsubscribe</a>`
    : ''
  const badge = `<td width="36" height="36" align="center" style="border-radius:18px;background:${colour};color:#ffffff;font-size:17px;font-weight:700">${symbol}</td>`
  const headline = `<td class="text" style="padding-left:12px;font-size:20px;line-height:1.3;font-weight:700;color:${LIGHT.text}" role="heading" aria-level="1">${escapeHtml(content.headline)}</td>`
  const card = [
    `<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px;${FONT}"><tr>${badge}${headline}</tr></table>`,
    ...sections.map((section) => sectionHtml(section, colour)),
  ].join('\n')
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark"><style>:root{color-scheme:light dark}
${DARK_SHEET}</style></head>
<body class="page" style="margin:0;padding:0;background:${LIGHT.page}">
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" style="background:${LIGHT.page}"><tr><td align="center" style="padding:20px 12px">
<table role="presentation" width="560" cellpadding="0" cellspacing="0" style="width:100%;max-width:560px;text-align:left;${FONT}">
<tr><td class="text" style="padding:0 4px 12px;font-weight:700;color:${LIGHT.text}">${site}</td></tr>
<tr><td class="card text" style="padding:24px;border:1px solid ${LIGHT.line};border-radius:12px;background:${LIGHT.card};color:${LIGHT.text}">${card}</td></tr>
<tr><td class="soft" style="padding:12px 4px;font-size:12px;color:${LIGHT.soft}">Sent by ${site}${unsubscribe}</td></tr>
</table></td></tr></table></body></html>
`
}

function sectionHtml(section: MailSection, colour: string): string {
  switch (section.kind) {
    case 'text': {
      const soft = section.isSmall ? `font-size:13px;color:${LIGHT.soft};` : ''
      const name = section.isSmall ? ' class="soft"' : ''
      return `<p${name} style="margin:0 0 16px;${soft}white-space:pre-wrap;overflow-wrap:anywhere">${escapeHtml(section.text)}</p>`
    }
    case 'buttons':
      return `<p style="margin:0 0 8px">${section.buttons.map((button, index) => buttonHtml(button, index === 0 ? colour : null)).join('\n')}</p>`
    case 'facts':
      return `<table cellpadding="0" cellspacing="0" style="margin:0 0 16px;${FONT};font-size:14px">${section.facts.map(factHtml).join('\n')}</table>`
    case 'list': {
      const items = section.lines.map(
        ({ text, url }) => `<li>${url === undefined ? escapeHtml(text) : linkHtml(text, url)}</li>`,
      )
      return `${titleHtml(section.title)}<ul style="margin:0 0 16px;padding-left:20px">${items.join('\n')}</ul>`
    }
    case 'quote':
      return `${titleHtml(section.title)}<pre class="quote" style="margin:0 0 16px;padding:12px;border:1px solid ${LIGHT.line};border-radius:8px;background:${LIGHT.quote};white-space:pre-wrap;overflow-wrap:anywhere;font-size:13px">${escapeHtml(section.text)}</pre>`
  }
}

/** @param fill null for a second action, which has only a border */
function buttonHtml({ label, url }: { label: string; url: string }, fill: string | null): string {
  const shape =
    'display:inline-block;margin:0 8px 8px 0;padding:10px 18px;border-radius:8px;text-decoration:none;font-weight:600'
  const look =
    fill === null
      ? `border:1px solid ${LIGHT.soft};color:${LIGHT.text}`
      : `border:1px solid ${fill};background:${fill};color:#ffffff!important`
  return `<a${fill === null ? ' class="second"' : ''} href="${escapeHtml(url)}" style="${shape};${look}">${escapeHtml(label)}</a>`
}

function factHtml({ label, value }: { label: string; value: string }): string {
  return `<tr><th class="soft" align="left" valign="top" style="padding:3px 16px 3px 0;font-weight:400;color:${LIGHT.soft}">${escapeHtml(label)}</th><td style="padding:3px 0;overflow-wrap:anywhere">${escapeHtml(value)}</td></tr>`
}

function titleHtml(title: string): string {
  if (title === '') return ''
  return `<p class="soft" style="margin:0 0 6px;color:${LIGHT.soft}">${escapeHtml(title)}:</p>`
}

function linkHtml(text: string, url: string): string {
  return `<a href="${escapeHtml(url)}" style="color:${LIGHT.text}">${escapeHtml(text)}</a>`
}
