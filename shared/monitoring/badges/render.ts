import type { BadgeState } from './state.ts'
import { badgeSvg } from './svg.ts'

export type BadgeFormat = 'svg' | 'json' | 'shields'

export interface RenderedBadge {
  contentType: string
  body: string
}

const SHIELDS_COLORS = { up: 'success', late: 'important', down: 'critical' } as const

/** The format that a badge URL ends in; null for any other. */
export function parseBadgeFormat(text: string): BadgeFormat | null {
  return text === 'svg' || text === 'json' || text === 'shields' ? text : null
}

/** The answer to a badge request (docs/spec/monitoring.md#badges). */
export function renderBadge(format: BadgeFormat, label: string, state: BadgeState): RenderedBadge {
  if (format === 'svg') return { contentType: 'image/svg+xml', body: badgeSvg(label, state.status) }
  return { contentType: 'application/json', body: JSON.stringify(format === 'json' ? state : toShields(label, state)) }
}

function toShields(label: string, { status }: BadgeState) {
  return { schemaVersion: 1, label, message: status, color: SHIELDS_COLORS[status] }
}
