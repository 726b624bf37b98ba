import type { BadgeState, BadgeStatus } from './state.ts'

export type BadgeFormat = 'svg' | 'json' | 'shields'

export interface RenderedBadge {
  contentType: string
  body: string
}

const SHIELDS_COLORS = { up: 'success', late: 'important', down: 'critical' } as const

export function parseBadgeFormat(text: string): BadgeFormat | null {
  return text === 'svg' || text === 'json' || text === 'shields' ? text : null
}

/** See docs/spec/monitoring.md#badges. */
export function renderBadge(format: BadgeFormat, label: string, state: BadgeState): RenderedBadge {
  if (format === 'svg') return { contentType: 'image/svg+xml', body: badgeSvg(label, state.status) }
  return { contentType: 'application/json', body: JSON.stringify(format === 'json' ? state : toShields(label, state)) }
}

function toShields(label: string, { status }: BadgeState) {
  return { schemaVersion: 1, label, message: status, color: SHIELDS_COLORS[status] }
}

const COLORS = { up: '#4c1', late: '#fe7d37', down: '#e05d44' } as const satisfies Record<BadgeStatus, string>

/** Returns a flat badge, 20 px high (docs/spec/monitoring.md#badges); escapes the label. */
export function badgeSvg(label: string, status: BadgeStatus): string {
  const left = textWidth(label) + 10
  const right = textWidth(status) + 10
  const width = left + right
  const name = escapeXml(label)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" role="img" aria-label="${name}: ${status}">`,
    `<title>${name}: ${status}</title>`,
    `<clipPath id="r"><rect width="${width}" height="20" rx="3"/></clipPath>`,
    `<g clip-path="url(#r)"><rect width="${left}" height="20" fill="#555"/>`,
    `<rect x="${left}" width="${right}" height="20" fill="${COLORS[status]}"/></g>`,
    '<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">',
    `<text x="${left / 2}" y="14">${name}</text><text x="${left + right / 2}" y="14">${status}</text></g></svg>`,
  ].join('')
}

function textWidth(text: string): number {
  let width = 0
  for (const char of text) {
    if (NARROW.test(char)) width += 4.2
    else if (WIDE.test(char)) width += 9.6
    else if (CAPITAL.test(char)) width += 7.8
    else width += char > '\u2fff' ? 11 : 6.8
  }
  return Math.ceil(width)
}

const NARROW = /[ijlI.,:;'|!() [\]frt]/
const WIDE = /[mwMW@%&]/
const CAPITAL = /[A-Z]/

/** Control characters that XML does not allow even escaped become U+FFFD. */
export function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\x20-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}
