import { escapeHtml } from './escapes.ts'
import type { Fact } from './fact.ts'

/** What a mail about a check says, in the order in which it says it. */
export interface EmailContent {
  headline: string
  /** which colour and mark the mail has */
  tone: 'down' | 'up' | 'quiet'
  lead: string
  facts: Fact[]
  description: string
  body: { text: string; isCut: boolean } | null
  overview: string[]
  link: string
  linkText: string
  unsubscribe: string | null
  siteName: string
}

/** Each readable on light and on dark grounds: mail programs turn pages dark by rules of their own. */
const TONES = {
  down: { colour: '#b3261e', mark: '&#10005;' },
  up: { colour: '#1d7a4f', mark: '&#10003;' },
  quiet: { colour: '#47618f', mark: '&#8226;' },
} as const

const FONT = 'font-family:-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif;font-size:15px;line-height:1.5'
const SOFT = 'color:#6b7077'

/** One column of 560 px with styles in its elements, which is what mail programs show alike. */
export function emailHtml(content: EmailContent): string {
  const { colour, mark } = TONES[content.tone]
  const { body } = content
  const rows = content.facts.map(
    ({ label, value }) =>
      `<tr><th align="left" valign="top" style="padding:3px 16px 3px 0;font-weight:400;${SOFT}">${escapeHtml(label)}</th><td style="padding:3px 0">${escapeHtml(value)}</td></tr>`,
  )
  const overview = content.overview.map((line) => `<li>${escapeHtml(line)}</li>`)
  const parts = [
    `<h1 style="margin:0 0 8px;font-size:20px;line-height:1.3">${escapeHtml(content.headline)}</h1>`,
    `<p style="margin:0 0 16px">${escapeHtml(content.lead)}</p>`,
    `<p style="margin:0 0 20px"><a href="${escapeHtml(content.link)}" style="display:inline-block;padding:10px 18px;border-radius:8px;background:${colour};color:#ffffff;text-decoration:none;font-weight:600">${escapeHtml(content.linkText)}</a></p>`,
    content.description && `<p style="margin:0 0 16px;white-space:pre-wrap">${escapeHtml(content.description)}</p>`,
    rows.length > 0 &&
      `<table cellpadding="0" cellspacing="0" style="margin:0 0 16px;${FONT};font-size:14px">${rows.join('')}</table>`,
    body &&
      `<p style="margin:0 0 6px;${SOFT}">Last ping's body${body.isCut ? ' (only its end is shown)' : ''}:</p><pre style="margin:0 0 16px;padding:12px;border:1px solid #8885;border-radius:8px;white-space:pre-wrap;overflow-wrap:anywhere;font-size:13px">${escapeHtml(body.text)}</pre>`,
    overview.length > 0 &&
      `<p style="margin:0 0 6px;${SOFT}">The project's checks:</p><ul style="margin:0 0 16px;padding-left:20px">${overview.join('')}</ul>`,
    `<p style="margin:24px 0 0;padding-top:12px;border-top:1px solid #8885;font-size:12px;${SOFT}">${escapeHtml(content.siteName)}${content.unsubscribe ? ` · <a href="${escapeHtml(content.unsubscribe)}" style="${SOFT}">Unsubscribe</a>` : ''}</p>`,
  ]
  const bar = `<td width="44" align="center" style="padding:8px 0;border-radius:10px;background:${colour};color:#ffffff;font-size:20px;font-weight:700">${mark}</td>`
  const head = '<meta charset="utf-8"><meta name="color-scheme" content="light dark">'
  const frame = `<table role="presentation" align="center" width="560" cellpadding="0" cellspacing="0" style="width:100%;max-width:560px;${FONT}"><tr>${bar}<td></td></tr><tr><td colspan="2" style="padding:16px 4px">${parts.filter(Boolean).join('\n')}</td></tr></table>`
  return `<!doctype html><html lang="en"><head>${head}</head><body style="margin:0;padding:20px">${frame}</body></html>\n`
}
